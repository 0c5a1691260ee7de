import {
  type Context,
  defaultTextMapGetter,
  defaultTextMapSetter,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { type ExportResult, ExportResultCode, W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, type ReadableSpan, type SpanExporter, TracerProvider } from '@opentelemetry/sdk-trace';
import { shorten } from '../common/shorten.ts';
import { withTimeout } from '../common/timeout.ts';
import type { Log } from '../log.ts';
import { version } from '../version.ts';
import type { Tracing } from './tracing.ts';

export interface TracingOptions {
  /** Base address of the collector's OTLP receiver for HTTP, such as `http://collector:4318`. */
  readonly endpoint: string;
  readonly log: Log;
}

/** What a collector that hangs may add to the end of a process. */
const FLUSH_TIMEOUT_MS = 2_000;
/** Spans that wait for the collector; further ones are dropped. One takes about 2 KiB. */
const MAX_WAITING_SPANS = 2_048;
const MAX_ATTRIBUTE_CHARACTERS = 256;
/** Between two log lines about a collector that takes nothing. */
const COMPLAINT_MS = 60_000;
const MAX_REASON_CHARACTERS = 200;

const KINDS = { server: SpanKind.SERVER, consumer: SpanKind.CONSUMER } as const;

/**
 * Sends spans by OTLP over HTTP, in JSON. The packages read `OTEL_SERVICE_NAME`, `OTEL_RESOURCE_ATTRIBUTES` and the
 * exporter's settings themselves. Nothing is registered globally: several services in one process do not meet.
 */
export function startTracing({ endpoint, log }: TracingOptions): Tracing {
  const exporter = new OTLPTraceExporter({ url: `${endpoint.replace(/\/+$/, '')}/v1/traces` });
  const provider = new TracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': 'gatehouse', 'service.version': version }))
      .merge(detectResources({ detectors: [envDetector] })),
    spanLimits: { attributeValueLengthLimit: MAX_ATTRIBUTE_CHARACTERS },
    spanProcessors: [new BatchSpanProcessor({ exporter: reporting(exporter, log), maxQueueSize: MAX_WAITING_SPANS })],
  });
  const tracer = provider.getTracer('gatehouse', version);
  const contexts = new AsyncLocalStorageContextManager().enable();
  const propagator = new W3CTraceContextPropagator();

  return {
    async run({ name, kind, parent, attributes }, work) {
      const span = tracer.startSpan(name, { kind: KINDS[kind], attributes }, contextOf(parent));
      const context = trace.setSpan(ROOT_CONTEXT, span);
      let failed = false;
      const fail = (type: string) => {
        failed = true;
        markFailed(span, type);
      };
      try {
        return await contexts.with(context, () =>
          work({ traceparent: traceparentOf(context), set: (values) => void span.setAttributes(values), fail }),
        );
      } catch (error) {
        if (!failed) {
          fail(error instanceof Error ? error.name : 'Error');
        }
        throw error;
      } finally {
        span.end();
      }
    },

    addRequest({ name, durationMs, error, attributes }) {
      const context = contexts.active();
      if (trace.getSpan(context) === undefined) {
        return;
      }
      const endTime = Date.now();
      const options = { kind: SpanKind.CLIENT, attributes, startTime: endTime - durationMs };
      const span = tracer.startSpan(name, options, context);
      if (error !== undefined) {
        markFailed(span, error);
      }
      span.end(endTime);
    },

    async close() {
      const flushed = provider.shutdown().catch(() => {});
      await withTimeout(FLUSH_TIMEOUT_MS, flushed, () => {
        log.warn('the last traces were not sent: the collector does not answer');
      });
      contexts.disable();
    },
  };

  function contextOf(parent: string | undefined): Context {
    return parent === undefined
      ? ROOT_CONTEXT
      : propagator.extract(ROOT_CONTEXT, { traceparent: parent }, defaultTextMapGetter);
  }

  function traceparentOf(context: Context): string | undefined {
    const carrier: Record<string, string> = {};
    propagator.inject(context, carrier, defaultTextMapSetter);
    return carrier['traceparent'];
  }
}

function markFailed(span: Span, type: string): void {
  span.setStatus({ code: SpanStatusCode.ERROR });
  span.setAttribute('error.type', type);
}

/** The exporter itself says nothing when spans are lost. */
function reporting(exporter: SpanExporter, log: Log): SpanExporter {
  let lastComplaint = Number.NEGATIVE_INFINITY;
  return {
    export(spans: ReadableSpan[], done: (result: ExportResult) => void) {
      exporter.export(spans, (result) => {
        if (result.code !== ExportResultCode.SUCCESS && performance.now() - lastComplaint >= COMPLAINT_MS) {
          lastComplaint = performance.now();
          const reason = shorten(result.error?.message ?? 'no reason given', MAX_REASON_CHARACTERS);
          log.warn({ spans: spans.length, reason }, 'traces were lost: the collector did not take them');
        }
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
  };
}
