/**
 * The world outside as a process reaches it: every call is carried out and answered by separate actions.
 *
 * The services themselves are the scenario's: plain objects that outlive processes. What a process holds is a stand-in
 * whose methods go over the agenda, so that it can crash in between, and an answer can get lost after the deed is done.
 */
import type { Interaction, Interceptor } from './deviation.ts'
import type { EventQueue } from './event-loop.ts'
import type { NetworkHost } from './network.ts'
import { arrivalsAtRunStart } from './observed-state.ts'
import type { SimulatedProcess } from './process.ts'
import { connectionReset } from './requests.ts'
import type { Scenario } from './scenario.ts'

interface ExternalServiceOptions {
  readonly host: Pick<
    NetworkHost,
    'eventQueue' | 'noteOrigin' | 'keepsPast' | 'recordInteraction' | 'steps' | 'onZombie'
  > &
    Interceptor
  readonly process: SimulatedProcess
  readonly scenario: Scenario
}

/** Stand-ins for all services. */
export function externalServicesOf(services: object, options: ExternalServiceOptions): object {
  return Object.fromEntries(
    Object.entries(services).map(([name, service]) => [name, proxyOf(name, service as object, options)]),
  )
}

const readNames = /^(?:get|list|find|read|describe|has|is|exists|observe|watch)/

/** Whether a method changes nothing. */
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
          { target, carryOut: () => (value as (...values: unknown[]) => unknown).apply(target, parameters) },
          options,
        )
    },
  })
}

interface ServiceInvocation {
  readonly target: object
  readonly carryOut: () => unknown
}

function callService(
  what: { readonly service: string; readonly method: string; readonly parameters: readonly unknown[] },
  doing: ServiceInvocation,
  { host, process: life, scenario }: ExternalServiceOptions,
): Promise<unknown> {
  const about = `${what.service}.${what.method}(${what.parameters.map(shortened).join(', ')})`
  if (life.isDead) {
    host.onZombie(life, about)
    return new Promise(() => undefined)
  }
  const knew = life.network.observed.deleting(arrivalsAtRunStart(life.network.observed))
  const requestedAt = host.steps
  host.noteOrigin(`reply ${about}`)
  return new Promise((resolve, reject) => {
    host.eventQueue.add({
      actor: life.name,
      type: 'call',
      about,
      run: async () => {
        const point = host.recordInteraction(
          life,
          { about, requestedAt, call: what, knew },
          isRead(scenario, what.service, what.method) ? 'look' : 'effect',
        )
        await answerCall(point, { invocation: doing, host, process: life, resolve, reject })
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
  point: Interaction,
  { host, process: life, invocation: { target, carryOut }, resolve, reject }: PendingCall,
): Promise<void> {
  const reply = (settle: () => void): void => {
    if (!life.isDead)
      host.eventQueue.add({ actor: life.name, type: 'reply', about: `${point.about}: ${point.outcome}`, run: settle })
  }
  const fate = await host.before(point)
  if (fate.type === 'dead') return
  if (fate.type === 'refuse' || fate.type === 'reset') {
    point.outcome = fate.type
    const error =
      fate.type === 'reset'
        ? connectionReset()
        : Object.assign(new Error(`simulated: ${fate.reason}`), {
            status: fate.status,
            statusCode: fate.status,
            code: fate.status,
          })
    reply(() => {
      reject(error)
    })
    return
  }
  if (host.keepsPast && point.type === 'effect') rememberServiceState(target)
  const result = await resultOf(fate.type === 'past' ? () => runOnPastState(target, carryOut) : carryOut)
  point.outcome = result.ok ? 'done' : `failed: ${String(result.error)}`
  const aftermath = await host.after(point)
  if (aftermath === 'answer')
    reply(() => {
      if (result.ok) resolve(result.value)
      else reject(result.error)
    })
  if (aftermath === 'lose')
    reply(() => {
      reject(connectionReset())
    })
}

async function resultOf(
  carryOut: () => unknown,
): Promise<{ readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: unknown }> {
  try {
    const value = await carryOut()
    // Nobody may hold on to what is inside the service.
    return { ok: true, value: typeof value === 'object' && value !== null ? structuredClone(value) : value }
  } catch (error) {
    return { ok: false, error }
  }
}

function shortened(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value))
  return text.length > 40 ? `${text.slice(0, 37)}...` : text
}

/**
 * What was in a service before the last thing was done to it: many clouds show that for a while.
 *
 * Only fields of its own that can be copied are remembered; what a service keeps elsewhere is always new.
 */
const pastStates = new WeakMap<object, Readonly<Record<string, unknown>>>()

/** Remembers a service as it is now. */
function rememberServiceState(service: object): void {
  const past: [string, unknown][] = []
  for (const [field, value] of Object.entries(service)) {
    if (typeof value === 'object' && value !== null) past.push([field, copyOf(value)])
  }
  pastStates.set(service, Object.fromEntries(past))
}

/** Carries something out on the service as it was. Nothing else may happen meanwhile. */
async function runOnPastState(service: object, carryOut: () => unknown): Promise<unknown> {
  const past = pastStates.get(service) ?? {}
  const now = Object.fromEntries(Object.keys(past).map((field) => [field, (service as Record<string, unknown>)[field]]))
  Object.assign(service, past)
  try {
    return await carryOut()
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
