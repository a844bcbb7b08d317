/**
 * The external services as a process reaches them: executing a call and delivering its reply are two events.
 *
 * The services themselves belong to the scenario: plain objects that outlive processes. A process holds a proxy whose
 * methods go through the event queue. So a process can crash between a call and its reply, and a reply can get lost after
 * the call was executed.
 */
import { stringifyJson } from '#api'
import type { Interaction, Interceptor } from './deviation.ts'
import type { EventQueue } from './event-loop.ts'
import type { NetworkHost } from './network.ts'
import { arrivalsAtRunStart } from './observed-state.ts'
import type { SimulatedProcess } from './process.ts'
import { connectionReset } from './requests.ts'
import type { Scenario } from './scenario.ts'

interface ExternalServiceOptions {
  readonly host: Pick<NetworkHost, 'eventQueue' | 'noteOrigin' | 'keepsPast' | 'recordInteraction' | 'steps'> &
    Interceptor
  readonly process: SimulatedProcess
  readonly scenario: Scenario
}

/** A proxy for every service. */
export function externalServicesOf(services: object, options: ExternalServiceOptions): object {
  return Object.fromEntries(
    Object.entries(services).map(([name, service]) => [name, proxyOf(name, service as object, options)]),
  )
}

/** `getBucket`, `get`, but not `issue`. */
const readNames = /^(?:get|list|find|read|describe|has|is|exists|observe|watch)(?![a-z])/

/** Whether a method only reads. */
function isRead(scenario: Scenario, service: string, method: string): boolean {
  const { reads } =
    (scenario.services as Record<string, { readonly reads?: readonly string[] }> | undefined)?.[service] ?? {}
  return reads ? reads.includes(method) : readNames.test(method)
}

function proxyOf(name: string, service: object, options: ExternalServiceOptions): object {
  return new Proxy(service, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property, target)
      if (typeof property === 'symbol' || typeof value !== 'function') return value
      return (...parameters: unknown[]) =>
        callService(
          { service: name, method: property, parameters },
          { target, execute: () => (value as (...values: unknown[]) => unknown).apply(target, parameters) },
          options,
        )
    },
  })
}

interface ServiceInvocation {
  readonly target: object
  readonly execute: () => unknown
}

function callService(
  what: { readonly service: string; readonly method: string; readonly parameters: readonly unknown[] },
  invocation: ServiceInvocation,
  { host, process: proc, scenario }: ExternalServiceOptions,
): Promise<unknown> {
  const about = `${what.service}.${what.method}(${what.parameters.map(shortened).join(', ')})`
  if (proc.isDead) return new Promise(() => undefined)
  const knownDeletions = proc.network.observed.deleting(arrivalsAtRunStart(proc.network.observed))
  const requestedAt = host.steps
  host.noteOrigin(`reply ${about}`)
  return new Promise((resolve, reject) => {
    host.eventQueue.add({
      actor: proc.name,
      type: 'call',
      about,
      run: async () => {
        const interaction = host.recordInteraction(
          proc,
          { about, requestedAt, call: what, knownDeletions },
          isRead(scenario, what.service, what.method) ? 'read' : 'effect',
        )
        await answerCall(interaction, { invocation, host, process: proc, resolve, reject })
      },
    })
  })
}

interface PendingCall {
  readonly invocation: ServiceInvocation
  readonly host: Interceptor & { readonly eventQueue: EventQueue; readonly keepsPast: boolean }
  readonly process: SimulatedProcess
  resolve(value: unknown): void
  reject(error: unknown): void
}

async function answerCall(
  interaction: Interaction,
  { host, process: proc, invocation: { target, execute }, resolve, reject }: PendingCall,
): Promise<void> {
  const reply = (settle: () => void, outcome = interaction.outcome): void => {
    if (!proc.isDead)
      host.eventQueue.add({
        actor: proc.name,
        type: 'reply',
        about: `${interaction.about}: ${outcome}`,
        run: settle,
      })
  }
  const decision = await host.before(interaction)
  if (decision.type === 'dead') return
  if (decision.type === 'refuse' || decision.type === 'reset') {
    interaction.outcome = decision.type
    const error =
      decision.type === 'reset'
        ? connectionReset()
        : Object.assign(new Error(`simulated: ${decision.reason}`), {
            status: decision.status,
            statusCode: decision.status,
            code: decision.status,
          })
    reply(() => {
      reject(error)
    })
    return
  }
  if (host.keepsPast && interaction.type === 'effect') rememberServiceState(target)
  const result = await resultOf(decision.type === 'past' ? () => runOnPastState(target, execute) : execute)
  interaction.outcome = result.ok ? 'done' : `failed: ${String(result.error)}`
  const responseDecision = await host.after(interaction)
  if (responseDecision === 'answer')
    reply(() => {
      if (result.ok) resolve(result.value)
      else reject(result.error)
    })
  if (responseDecision === 'lose')
    reply(() => {
      reject(connectionReset())
    }, 'no response')
}

async function resultOf(
  execute: () => unknown,
): Promise<{ readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: unknown }> {
  try {
    const value = await execute()
    // A copy: the program must not hold references into the service.
    return { ok: true, value: typeof value === 'object' && value !== null ? structuredClone(value) : value }
  } catch (error) {
    return { ok: false, error }
  }
}

function shortened(value: unknown): string {
  const text = typeof value === 'string' ? value : (stringifyJson(value) ?? String(value))
  return text.length > 40 ? `${text.slice(0, 37)}...` : text
}

/**
 * The state of a service before its last change: many clouds serve that for a while.
 *
 * Only own fields that can be cloned are kept; a service that keeps state elsewhere is always current.
 */
const pastStates = new WeakMap<object, Readonly<Record<string, unknown>>>()

/** Keeps the current state of a service. */
function rememberServiceState(service: object): void {
  const past: [string, unknown][] = []
  for (const [field, value] of Object.entries(service)) {
    if (typeof value === 'object' && value !== null) past.push([field, copyOf(value)])
  }
  pastStates.set(service, Object.fromEntries(past))
}

/** Runs a read on the kept state. Nothing else may run in between. */
async function runOnPastState(service: object, execute: () => unknown): Promise<unknown> {
  const past = pastStates.get(service) ?? {}
  const now = Object.fromEntries(Object.keys(past).map((field) => [field, (service as Record<string, unknown>)[field]]))
  Object.assign(service, past)
  try {
    return await execute()
  } finally {
    Object.assign(service, now)
  }
}

function copyOf(value: object): unknown {
  try {
    return structuredClone(value)
  } catch {
    return value
  }
}
