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
{{- .Values.serviceAccount.name | default (.Values.serviceAccount.create | ternary (include "gatehouse.fullname" .) "default") -}}
{{- end -}}

{{/* Labels ----------------------------------------------------------------- */}}

{{/* Labels of every pod of this release. */}}
{{- define "gatehouse.instanceLabels" -}}
app.kubernetes.io/name: {{ include "gatehouse.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{/* Selector of a part's pods. A selector cannot be changed later, so it has no label of the user. Takes (list . "door"). */}}
{{- define "gatehouse.selectorLabels" -}}
{{ include "gatehouse.instanceLabels" (index . 0) }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end -}}

{{/* Labels of a pod. They have no chart or version, so a new chart alone replaces no pod. Takes (list . "door"). */}}
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
The value of a key of a Secret in the cluster, or a new random key if there is
none. So an upgrade keeps the key of the first install. Takes (list . "secret" "key").
*/}}
{{- define "gatehouse.keptOrGenerated" -}}
{{- $found := lookup "v1" "Secret" (index . 0).Release.Namespace (index . 1) | default dict -}}
{{- get ($found.data | default dict) (index . 2) | b64dec | default (randAlphaNum 40) -}}
{{- end -}}

{{/* "true" if the user sets a variable, or its NAME_FILE, in extraEnv. Takes (list . "NAME"). */}}
{{- define "gatehouse.givenInExtraEnv" -}}
{{- $name := index . 1 -}}
{{- range (index . 0).Values.extraEnv -}}
{{- if or (eq .name $name) (eq .name (printf "%s_FILE" $name)) (eq (printf "%s_FILE" .name) $name) }}true{{ end -}}
{{- end -}}
{{- end -}}

{{/* "true" if the chart must generate a signing key. */}}
{{- define "gatehouse.generatesWebhookSecret" -}}
{{- $secret := .Values.webhookSecret -}}
{{- if not (or $secret.value $secret.existingSecret (include "gatehouse.givenInExtraEnv" (list . "WEBHOOK_SECRET"))) }}true{{ end -}}
{{- end -}}

{{/* Data of the Secret with the signing key and the previous one. Empty when the user has a Secret or extraEnv for it. */}}
{{- define "gatehouse.signingKeys" -}}
{{- $secret := .Values.webhookSecret -}}
{{- $keys := dict -}}
{{- if $secret.value -}}
{{- $_ := set $keys "webhook-secret" (b64enc $secret.value) -}}
{{- else if include "gatehouse.generatesWebhookSecret" . -}}
{{- $_ := set $keys "webhook-secret" (include "gatehouse.keptOrGenerated" (list . (include "gatehouse.fullname" .) "webhook-secret") | b64enc) -}}
{{- end -}}
{{- with $secret.previous -}}
{{- $_ := set $keys "webhook-secret-previous" (b64enc .) -}}
{{- end -}}
{{- toYaml $keys -}}
{{- end -}}

{{/* Secret and key of a store's URL, or nothing. Takes (list . "database" "postgresql"). */}}
{{- define "gatehouse.storeUrlRef" -}}
{{- $root := index . 0 -}}
{{- $store := index $root.Values (index . 1) -}}
{{- $bundled := index . 2 -}}
{{- if (index $root.Values.bundled $bundled).enabled -}}
{name: {{ include "gatehouse.componentName" (list $root $bundled) }}, key: url}
{{- else if $store.existingSecret -}}
{name: {{ $store.existingSecret }}, key: {{ $store.existingSecretKey }}}
{{- else if $store.url -}}
{name: {{ include "gatehouse.componentName" (list $root "stores") }}, key: {{ index . 1 }}-url}
{{- end -}}
{{- end -}}

{{/* Secret and key of the forge credentials, or nothing. Takes (list . "forgeToken") or (list . "githubApp"). */}}
{{- define "gatehouse.forgeSecretRef" -}}
{{- $root := index . 0 -}}
{{- $given := index $root.Values (index . 1) -}}
{{- if or $given.existingSecret $given.value $given.privateKey -}}
{name: {{ $given.existingSecret | default (include "gatehouse.componentName" (list $root "forge")) }}, key: {{ $given.existingSecretKey }}}
{{- end -}}
{{- end -}}

{{/* Parts ------------------------------------------------------------------ */}}

{{/* "true" if a token, or a GitHub App, is set for the forge. */}}
{{- define "gatehouse.hasForgeToken" -}}
{{- if or (include "gatehouse.forgeSecretRef" (list . "forgeToken")) (include "gatehouse.givenInExtraEnv" (list . "FORGE_TOKEN")) }}true{{ end -}}
{{- end -}}
{{- define "gatehouse.hasGithubApp" -}}
{{- $inExtraEnv := or (include "gatehouse.givenInExtraEnv" (list . "GITHUB_APP_ID")) (include "gatehouse.givenInExtraEnv" (list . "GITHUB_APP_PRIVATE_KEY")) -}}
{{- if or .Values.githubApp.appId (include "gatehouse.forgeSecretRef" (list . "githubApp")) $inExtraEnv }}true{{ end -}}
{{- end -}}

{{/* The parts that have a Deployment: "door", or "door worker" if there are forge credentials. */}}
{{- define "gatehouse.parts" -}}
{{- $worker := .Values.worker.enabled -}}
{{- if kindIs "invalid" $worker -}}
{{- $worker = or (include "gatehouse.hasForgeToken" .) (include "gatehouse.hasGithubApp" .) -}}
{{- end -}}
door{{ if $worker }} worker{{ end }}
{{- end -}}

{{/*
Number of replicas. With an autoscaler it is the number that the Deployment has now: any other number in the manifest, or none,
would make an upgrade stop pods that the autoscaler had started. Takes (list . "door").
*/}}
{{- define "gatehouse.replicas" -}}
{{- $root := index . 0 -}}
{{- $own := index $root.Values (index . 1) -}}
{{- if $own.autoscaling.enabled -}}
{{- $live := lookup "apps/v1" "Deployment" $root.Release.Namespace (include "gatehouse.componentName" .) | default dict -}}
{{- $now := ($live.spec | default dict).replicas | default 0 | int -}}
{{- min (int $own.autoscaling.maxReplicas) (max (int $own.autoscaling.minReplicas) $now) -}}
{{- else -}}
{{- $own.replicas -}}
{{- end -}}
{{- end -}}

{{/* Containers ------------------------------------------------------------- */}}

{{- define "gatehouse.image" -}}
{{- $tag := .Values.image.tag | default .Chart.AppVersion -}}
{{- printf "%s:%s" .Values.image.repository $tag -}}{{ with .Values.image.digest }}@{{ . }}{{ end }}
{{- end -}}

{{/*
The environment that the chart gives a container, before extraEnv, by its part: "migrate", "door", "worker" or
"test". None has a secret that it does not need. Takes (list . "door").
*/}}
{{- define "gatehouse.ownEnv" -}}
{{- $root := index . 0 -}}
{{- $part := index . 1 -}}
{{- $v := $root.Values -}}
- { name: LOG_LEVEL, value: {{ $v.config.logLevel | quote }} }
{{- if ne $part "test" }}
{{- with include "gatehouse.storeUrlRef" (list $root "database" "postgresql") }}
- { name: DATABASE_URL, valueFrom: { secretKeyRef: {{ . }} } }
{{- end }}
{{- end }}
{{- if eq $part "door" }}
- { name: READY_WITHOUT_REDIS, value: "true" }
{{- end }}
{{- if has $part (list "door" "worker") }}
{{- with include "gatehouse.storeUrlRef" (list $root "redis" "redis") }}
- { name: REDIS_URL, valueFrom: { secretKeyRef: {{ . }} } }
{{- end }}
- { name: PORT, value: "8080" }
- { name: METRICS_PORT, value: "9090" }
- { name: FORGE, value: {{ $v.config.forge | quote }} }
- { name: DRAIN_SECONDS, value: {{ $v.config.drainSeconds | quote }} }
- { name: STATUS_CONTEXT, value: {{ $v.config.statusContext | quote }} }
{{- end }}
{{- if eq $part "door" }}
- { name: WEBHOOK_BODY_LIMIT, value: {{ include "gatehouse.whole" $v.config.bodyLimit | quote }} }
{{- end }}
{{- if and (has $part (list "door" "test")) (not (include "gatehouse.givenInExtraEnv" (list $root "WEBHOOK_SECRET"))) }}
{{- $name := $v.webhookSecret.existingSecret | default (include "gatehouse.fullname" $root) }}
{{- $key := $v.webhookSecret.existingSecret | empty | ternary "webhook-secret" $v.webhookSecret.existingSecretKey }}
{{- $previous := $v.webhookSecret.existingSecret | empty | ternary "webhook-secret-previous" $v.webhookSecret.existingSecretPreviousKey }}
- { name: WEBHOOK_SECRET, valueFrom: { secretKeyRef: { name: {{ $name }}, key: {{ $key }} } } }
- { name: WEBHOOK_SECRET_PREVIOUS, valueFrom: { secretKeyRef: { name: {{ $name }}, key: {{ $previous }}, optional: true } } }
{{- end }}
{{- if eq $part "worker" }}
{{- with $v.config.forgeUrl }}
- { name: FORGE_URL, value: {{ . | quote }} }
{{- end }}
- { name: WORKER_CONCURRENCY, value: {{ $v.worker.concurrency | quote }} }
{{- /* Every other key of config is a setting of the worker, in the spelling of the chart. */}}
{{- range $key, $value := omit $v.config "logLevel" "forge" "forgeUrl" "drainSeconds" "statusContext" "bodyLimit" "policy" "policyRepository" }}
- { name: {{ snakecase $key | upper }}, value: {{ $value | quote }} }
{{- end }}
{{- with include "gatehouse.forgeSecretRef" (list $root "forgeToken") }}
- { name: FORGE_TOKEN, valueFrom: { secretKeyRef: {{ . }} } }
{{- end }}
{{- with $v.githubApp.appId }}
- { name: GITHUB_APP_ID, value: {{ include "gatehouse.whole" . | quote }} }
{{- end }}
{{- if include "gatehouse.forgeSecretRef" (list $root "githubApp") }}
- { name: GITHUB_APP_PRIVATE_KEY_FILE, value: /etc/gatehouse/github-app/private-key.pem }
{{- end }}
{{- with $v.config.policyRepository }}
- { name: POLICY_REPOSITORY, value: {{ . | quote }} }
{{- end }}
{{- if $v.config.policy }}
- { name: POLICY_FILE, value: /etc/gatehouse/policy/policy.yml }
{{- end }}
{{- end }}
{{- end -}}

{{/* Helm reads numbers of a values file as floats: 26214400 would be printed as 2.62144e+07. */}}
{{- define "gatehouse.whole" -}}
{{- kindIs "string" . | ternary . (int64 .) -}}
{{- end -}}

{{/* Bytes of a Kubernetes quantity: the API server writes 2048Mi as 2Gi. */}}
{{- define "gatehouse.bytes" -}}
{{- $units := dict "" 1 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776 -}}
{{- mulf (regexFind "^[0-9.]+" .) (get $units (regexFind "[A-Za-z]*$" .)) | int64 -}}
{{- end -}}

{{/* The environment of a container: no name occurs twice, and never NAME beside NAME_FILE. Takes (list . "door"). */}}
{{- define "gatehouse.env" -}}
{{- $root := index . 0 -}}
{{- $env := list -}}
{{- range include "gatehouse.ownEnv" . | fromYamlArray -}}
{{- if not (include "gatehouse.givenInExtraEnv" (list $root .name)) -}}
{{- $env = append $env . -}}
{{- end -}}
{{- end -}}
{{- concat $env $root.Values.extraEnv | toYaml -}}
{{- end -}}

{{/* Volumes of the worker only. Each is mounted under its name in /etc/gatehouse. */}}
{{- define "gatehouse.workerVolumes" -}}
{{- with include "gatehouse.forgeSecretRef" (list . "githubApp") | fromYaml }}
- name: github-app
  secret:
    secretName: {{ .name }}
    items: [{ key: {{ .key }}, path: private-key.pem }]
{{- end }}
{{- if .Values.config.policy }}
- name: policy
  configMap:
    name: {{ include "gatehouse.componentName" (list . "policy") }}
{{- end }}
{{- end -}}

{{/* Common parts of every Gatehouse container. Takes (list . "migrate" "worker"): its part, and the part whose resources it has. */}}
{{- define "gatehouse.container" -}}
{{- $root := index . 0 -}}
{{- $part := index . 1 -}}
{{- $mounts := $root.Values.extraVolumeMounts -}}
{{- range eq $part "worker" | ternary (include "gatehouse.workerVolumes" $root | fromYamlArray) list -}}
{{- $mounts = append $mounts (dict "name" .name "mountPath" (printf "/etc/gatehouse/%s" .name) "readOnly" true) -}}
{{- end -}}
image: {{ include "gatehouse.image" $root | quote }}
imagePullPolicy: {{ $root.Values.image.pullPolicy }}
env:
  {{- include "gatehouse.env" (list $root $part) | nindent 2 }}
{{- include "gatehouse.given" (list 0 (dict "envFrom" $root.Values.extraEnvFrom "volumeMounts" $mounts)) }}
securityContext:
  {{- include "gatehouse.withoutNulls" $root.Values.containerSecurityContext | nindent 2 }}
resources:
  {{- toYaml (index $root.Values (index . 2)).resources | nindent 2 }}
{{- end -}}

{{/* Common parts of every Gatehouse pod. Takes (list . "door"). */}}
{{- define "gatehouse.pod" -}}
{{- $root := index . 0 -}}
{{- $v := $root.Values -}}
{{- $volumes := eq (index . 1) "worker" | ternary (include "gatehouse.workerVolumes" $root | fromYamlArray) list -}}
serviceAccountName: {{ include "gatehouse.serviceAccountName" $root }}
automountServiceAccountToken: false
# Without this, Kubernetes adds a variable for each port of each Service.
enableServiceLinks: false
securityContext:
  {{- include "gatehouse.withoutNulls" $v.podSecurityContext | nindent 2 }}
{{- include "gatehouse.given" (list 0 (pick $v "imagePullSecrets" "priorityClassName" "nodeSelector" "tolerations" "affinity")) }}
{{- include "gatehouse.given" (list 0 (dict "volumes" (concat $volumes $v.extraVolumes))) }}
{{- end -}}

{{/* Common parts of the pods of the bundled stores. Takes (list . userId groupId). */}}
{{- define "gatehouse.bundledPod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  { runAsNonRoot: true, runAsUser: {{ index . 1 }}, runAsGroup: {{ index . 2 }}, seccompProfile: { type: RuntimeDefault },
    fsGroup: {{ index . 2 }}, fsGroupChangePolicy: OnRootMismatch }
{{- include "gatehouse.given" (list 0 (pick (index . 0).Values "imagePullSecrets" "nodeSelector" "tolerations")) }}
{{- end -}}

{{/* A map without the keys that a user's values set to null: Helm itself leaves out only those that the chart has. */}}
{{- define "gatehouse.withoutNulls" -}}
{{- $kept := dict -}}
{{- range $key, $value := . -}}
{{- if not (kindIs "invalid" $value) }}{{ $_ := set $kept $key $value }}{{ end -}}
{{- end -}}
{{- toYaml $kept -}}
{{- end -}}

{{/* The entries of a map that are not empty, on separate lines with this indent. Takes (list indent map). */}}
{{- define "gatehouse.given" -}}
{{- $indent := index . 0 -}}
{{- range $key, $value := index . 1 -}}
{{- if $value }}{{ dict $key $value | toYaml | nindent (int $indent) }}{{ end -}}
{{- end -}}
{{- end -}}

