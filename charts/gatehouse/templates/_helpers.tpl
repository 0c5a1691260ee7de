{{/* Names ------------------------------------------------------------------ */}}

{{- define "gatehouse.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "gatehouse.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/*
The name of a part, whole and never longer than 52: Kubernetes labels a
StatefulSet's pods with its name and eleven characters more, 63 in all.
Takes (list . "door").
*/}}
{{- define "gatehouse.componentName" -}}
{{- $root := index . 0 -}}
{{- $part := index . 1 -}}
{{- $room := sub 51 (len $part) | int -}}
{{- printf "%s-%s" (include "gatehouse.fullname" $root | trunc $room | trimSuffix "-") $part -}}
{{- end -}}

{{- define "gatehouse.chart" -}}
{{- printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "gatehouse.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "gatehouse.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{/* Labels ----------------------------------------------------------------- */}}

{{/* What every pod of this release has, whatever its part. */}}
{{- define "gatehouse.instanceLabels" -}}
app.kubernetes.io/name: {{ include "gatehouse.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{/* What finds the pods of a part. A selector cannot be changed later, so no label of the user's is in it. Takes (list . "door"). */}}
{{- define "gatehouse.selectorLabels" -}}
{{ include "gatehouse.instanceLabels" (index . 0) }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end -}}

{{/* Labels of a pod. Neither chart nor version is among them: a new chart alone replaces no pod. Takes (list . "door"). */}}
{{- define "gatehouse.podLabels" -}}
{{- $values := (index . 0).Values -}}
{{- merge (include "gatehouse.selectorLabels" . | fromYaml) $values.podLabels $values.commonLabels | toYaml -}}
{{- end -}}

{{/* Labels of an object. Takes (list . "door"). */}}
{{- define "gatehouse.labels" -}}
{{- $root := index . 0 -}}
{{- $own := dict
  "helm.sh/chart" (include "gatehouse.chart" $root)
  "app.kubernetes.io/version" ($root.Chart.AppVersion | replace "+" "_" | trunc 63)
  "app.kubernetes.io/managed-by" $root.Release.Service
  "app.kubernetes.io/part-of" "gatehouse" -}}
{{- merge (include "gatehouse.selectorLabels" . | fromYaml) $own $root.Values.commonLabels | toYaml -}}
{{- end -}}

{{/* Name, namespace and labels of an object. Takes (list . "door" "its-name"), and further labels as a fourth. */}}
{{- define "gatehouse.metadata" -}}
{{- $root := index . 0 -}}
{{- $further := len . | lt 3 | ternary (last .) dict -}}
name: {{ index . 2 }}
namespace: {{ $root.Release.Namespace }}
labels:
  {{- merge (include "gatehouse.labels" . | fromYaml) $further | toYaml | nindent 2 }}
{{- end -}}

{{/* Secrets ---------------------------------------------------------------- */}}

{{/*
What a Secret in the cluster holds under a key, and a fresh key where it holds
nothing. So an upgrade keeps what the first install made. Takes (list . "secret" "key").
*/}}
{{- define "gatehouse.keptOrGenerated" -}}
{{- $found := lookup "v1" "Secret" (index . 0).Release.Namespace (index . 1) | default dict -}}
{{- get ($found.data | default dict) (index . 2) | b64dec | default (randAlphaNum 40) -}}
{{- end -}}

{{/* Says "true" where the user gives a variable, or its NAME_FILE, in extraEnv. Takes (list . "NAME"). */}}
{{- define "gatehouse.givenInExtraEnv" -}}
{{- $name := index . 1 -}}
{{- range (index . 0).Values.extraEnv -}}
{{- if or (eq .name $name) (eq .name (printf "%s_FILE" $name)) (eq (printf "%s_FILE" .name) $name) }}true{{ end -}}
{{- end -}}
{{- end -}}

{{/* Says "true" where the chart has to make a signing key of its own. */}}
{{- define "gatehouse.generatesWebhookSecret" -}}
{{- $secret := .Values.webhookSecret -}}
{{- if not (or $secret.value $secret.existingSecret (include "gatehouse.givenInExtraEnv" (list . "WEBHOOK_SECRET"))) }}true{{ end -}}
{{- end -}}

{{/* The Secret and the key of a store's URL, or nothing. Takes (list . "database" "postgresql"). */}}
{{- define "gatehouse.storeUrlRef" -}}
{{- $root := index . 0 -}}
{{- $store := index $root.Values (index . 1) -}}
{{- $bundled := index . 2 -}}
{{- if (index $root.Values.bundled $bundled).enabled -}}
{name: {{ include "gatehouse.componentName" (list $root $bundled) }}, key: url}
{{- else if $store.existingSecret -}}
{name: {{ $store.existingSecret }}, key: {{ $store.existingSecretKey }}}
{{- else if $store.url -}}
{name: {{ include "gatehouse.fullname" $root }}, key: {{ index . 1 }}-url}
{{- end -}}
{{- end -}}

{{/* Containers ------------------------------------------------------------- */}}

{{- define "gatehouse.image" -}}
{{- $tag := .Values.image.tag | default .Chart.AppVersion -}}
{{- if .Values.image.digest -}}
{{- printf "%s:%s@%s" .Values.image.repository $tag .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" .Values.image.repository $tag -}}
{{- end -}}
{{- end -}}

{{/* The environment that the chart gives, before extraEnv. */}}
{{- define "gatehouse.ownEnv" -}}
{{- $secret := .Values.webhookSecret -}}
- name: PORT
  value: "8080"
- name: METRICS_PORT
  value: {{ .Values.metrics.port | quote }}
- name: LOG_LEVEL
  value: {{ .Values.config.logLevel | quote }}
- name: FORGE
  value: {{ .Values.config.forge | quote }}
- name: WEBHOOK_BODY_LIMIT
  # A number from a values file is a float to Helm: 26214400 would come out as 2.62144e+07.
  value: {{ kindIs "string" .Values.config.bodyLimit | ternary .Values.config.bodyLimit (int64 .Values.config.bodyLimit) | quote }}
- name: DRAIN_SECONDS
  value: {{ .Values.config.drainSeconds | quote }}
{{- if not (include "gatehouse.givenInExtraEnv" (list . "WEBHOOK_SECRET")) }}
- name: WEBHOOK_SECRET
  valueFrom:
    secretKeyRef:
      name: {{ $secret.existingSecret | default (include "gatehouse.fullname" .) }}
      key: {{ $secret.existingSecret | empty | ternary "webhook-secret" $secret.existingSecretKey }}
- name: WEBHOOK_SECRET_PREVIOUS
  valueFrom:
    secretKeyRef:
      name: {{ $secret.existingSecret | default (include "gatehouse.fullname" .) }}
      key: {{ $secret.existingSecret | empty | ternary "webhook-secret-previous" $secret.existingSecretPreviousKey }}
      optional: true
{{- end }}
{{- with include "gatehouse.storeUrlRef" (list . "database" "postgresql") }}
- name: DATABASE_URL
  valueFrom:
    secretKeyRef: {{ . }}
{{- end }}
{{- with include "gatehouse.storeUrlRef" (list . "redis" "redis") }}
- name: REDIS_URL
  valueFrom:
    secretKeyRef: {{ . }}
{{- end }}
{{- end -}}

{{/* The environment of a Gatehouse container: no name occurs twice, and never NAME beside NAME_FILE. */}}
{{- define "gatehouse.env" -}}
{{- $env := list -}}
{{- range include "gatehouse.ownEnv" . | fromYamlArray -}}
{{- if not (include "gatehouse.givenInExtraEnv" (list $ .name)) -}}
{{- $env = append $env . -}}
{{- end -}}
{{- end -}}
{{- concat $env .Values.extraEnv | toYaml -}}
{{- end -}}

{{/* What every Gatehouse container has in common. */}}
{{- define "gatehouse.container" -}}
image: {{ include "gatehouse.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
env:
  {{- include "gatehouse.env" . | nindent 2 }}
{{- include "gatehouse.given" (list 0 (dict "envFrom" .Values.extraEnvFrom "volumeMounts" .Values.extraVolumeMounts)) }}
securityContext:
  {{- toYaml .Values.containerSecurityContext | nindent 2 }}
resources:
  {{- toYaml .Values.door.resources | nindent 2 }}
{{- end -}}

{{/* What every Gatehouse pod has in common. */}}
{{- define "gatehouse.pod" -}}
serviceAccountName: {{ include "gatehouse.serviceAccountName" . }}
automountServiceAccountToken: false
# Without this, Kubernetes adds a variable for each port of each Service.
enableServiceLinks: false
securityContext:
  {{- toYaml .Values.podSecurityContext | nindent 2 }}
{{- include "gatehouse.given" (list 0 (pick .Values "imagePullSecrets" "priorityClassName" "nodeSelector" "tolerations" "affinity")) }}
{{- include "gatehouse.given" (list 0 (dict "volumes" .Values.extraVolumes)) }}
{{- end -}}

{{/* What the pods of the bundled stores have in common. Takes (list . userId groupId). */}}
{{- define "gatehouse.bundledPod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: {{ index . 1 }}
  runAsGroup: {{ index . 2 }}
  fsGroup: {{ index . 2 }}
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: { type: RuntimeDefault }
{{- include "gatehouse.given" (list 0 (pick (index . 0).Values "imagePullSecrets" "nodeSelector" "tolerations")) }}
{{- end -}}

{{/* The entries of a map that are not empty, each on lines of its own, so far in. Takes (list indent map). */}}
{{- define "gatehouse.given" -}}
{{- $indent := index . 0 -}}
{{- range $key, $value := index . 1 -}}
{{- if $value }}{{ dict $key $value | toYaml | nindent (int $indent) }}{{ end -}}
{{- end -}}
{{- end -}}

{{/* How many pods the door has at the least. */}}
{{- define "gatehouse.doorMinimum" -}}
{{- .Values.door.autoscaling.enabled | ternary .Values.door.autoscaling.minReplicas .Values.door.replicas | int -}}
{{- end -}}
