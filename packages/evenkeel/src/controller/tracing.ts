/**
 * Spans around reconciles, if OpenTelemetry is installed.
 *
 * With `@opentelemetry/api` installed there are spans, linked to the reconciles that caused them; without it tracing costs
 * nothing. It is not a dependency: it is looked up once.
 */
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

interface SpanFacts {
  readonly name: string
  readonly attributes: Readonly<Record<string, string | number | boolean>>
  /** Contexts of the spans that led to this one. */
  readonly links: readonly unknown[]
}

/** An open span. */
export interface Span {
  /** The context that other spans link to. */
  readonly context: unknown
  set(name: string, value: string | number | boolean): void
  fail(error: unknown): void
}

export interface Tracing {
  /** Runs the work inside a span, which ends with it. */
  run<T>(facts: SpanFacts, work: (span: Span) => Promise<T>): Promise<T>
}

const silentSpan: Span = { context: undefined, set: () => undefined, fail: () => undefined }

/** No spans. */
export const silentTracing: Tracing = { run: (_, work) => work(silentSpan) }

/** As much of `@opentelemetry/api` as is used. */
interface OpenTelemetry {
  readonly trace: { getTracer(name: string): OtelTracer }
}

interface OtelTracer {
  startActiveSpan<T>(
    name: string,
    options: { attributes: SpanFacts['attributes']; links: readonly { context: unknown }[] },
    work: (span: OtelSpan) => T,
  ): T
}

interface OtelSpan {
  spanContext(): unknown
  setAttribute(name: string, value: string | number | boolean): unknown
  recordException(error: Error): void
  setStatus(status: { code: number; message?: string }): unknown
  end(): void
}

const statusError = 2

/** Spans of OpenTelemetry, or none when it is not installed. */
export function findTracing({ load = loadOpenTelemetry }: { load?: () => unknown } = {}): Tracing {
  let api: unknown
  try {
    api = load()
  } catch {
    return silentTracing
  }
  return isOpenTelemetry(api) ? openTelemetryTracing(api) : silentTracing
}

function openTelemetryTracing({ trace }: OpenTelemetry): Tracing {
  const tracer = trace.getTracer('evenkeel')
  return {
    async run({ name, attributes, links }, work) {
      let hasBegun = false
      try {
        return await tracer.startActiveSpan(
          name,
          { attributes, links: links.map((context) => ({ context })) },
          async (span) => {
            hasBegun = true
            return await inside(span, work)
          },
        )
      } catch (error) {
        // A failure of tracing must not fail the reconcile.
        if (!hasBegun) return await work(silentSpan)
        throw error
      }
    },
  }
}

async function inside<T>(span: OtelSpan, work: (span: Span) => Promise<T>): Promise<T> {
  try {
    return await work(handleOf(span))
  } finally {
    span.end()
  }
}

function handleOf(span: OtelSpan): Span {
  return {
    context: span.spanContext(),
    set: (name, value) => {
      span.setAttribute(name, value)
    },
    fail: (error) => {
      const failure = error instanceof Error ? error : new Error(String(error))
      span.recordException(failure)
      span.setStatus({ code: statusError, message: failure.message })
    },
  }
}

/**
 * Looked up from this package, then from the program: strict installers show each package only its own dependencies. The
 * state of the package is global to the process, so any copy will do.
 */
function loadOpenTelemetry(): unknown {
  try {
    return createRequire(import.meta.url)('@opentelemetry/api')
  } catch {
    return createRequire(pathToFileURL(process.argv[1] ?? 'program'))('@opentelemetry/api')
  }
}

function isOpenTelemetry(api: unknown): api is OpenTelemetry {
  return typeof (api as Partial<OpenTelemetry> | undefined)?.trace?.getTracer === 'function'
}
