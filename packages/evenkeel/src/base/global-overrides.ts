/**
 * Replaces the global timers, `Date`, `Math.random`, `process.exit` and `fetch` during a simulation.
 *
 * Only simulations use this; all other code gets a clock and a random source as parameters. The globals are restored when
 * the last simulation ends.
 */

/** The replacements. Each may decline (undefined or false); then the real global is used. */
interface GlobalOverrides {
  /** @returns the function that cancels the timer, or undefined to use a real timer */
  timer(
    kind: 'setTimeout' | 'setInterval' | 'setImmediate',
    delayMs: number,
    callback: () => void,
  ): (() => void) | undefined
  /** Milliseconds since 1970. */
  now(): number | undefined
  random(): number | undefined
  /** @returns whether the exit was handled */
  exit(code: unknown): boolean
  /** Called when the code under simulation calls `fetch`. */
  fetch(what: string): void
}

type AnyFunction = (...parameters: unknown[]) => unknown
type TimerName = 'setTimeout' | 'setInterval' | 'setImmediate'

/** The last one is in effect: simulations may overlap, and end in any order. */
const activeOverrides: GlobalOverrides[] = []
/** The cancel functions of simulated timers. */
const stops = new WeakMap<object, () => void>()
let restoreGlobals: (() => void) | undefined

/** Replaces the globals. @returns the function that restores them */
export function overrideGlobals(overrides: GlobalOverrides): () => void {
  restoreGlobals ??= install()
  activeOverrides.push(overrides)
  return () => {
    const index = activeOverrides.indexOf(overrides)
    if (index >= 0) activeOverrides.splice(index, 1)
    if (activeOverrides.length > 0) return
    restoreGlobals?.()
    restoreGlobals = undefined
  }
}

function install(): () => void {
  const {
    setTimeout,
    setInterval,
    setImmediate,
    clearTimeout,
    clearInterval,
    clearImmediate,
    Date: RealDate,
    fetch,
  } = globalThis
  const { random } = Math
  const { exit } = process
  const machine = {
    setTimeout,
    setInterval,
    setImmediate,
    clearTimeout,
    clearInterval,
    clearImmediate,
    Date: RealDate,
    fetch,
    random,
    exit,
  }
  const { random: simulatedRandom, exit: simulatedExit, ...others } = replacementsOf(machine)
  Object.assign(globalThis, others)
  Math.random = simulatedRandom
  process.exit = simulatedExit
  return () => {
    Object.assign(globalThis, {
      setTimeout,
      setInterval,
      setImmediate,
      clearTimeout,
      clearInterval,
      clearImmediate,
      Date: RealDate,
      fetch,
    })
    Math.random = random
    process.exit = exit
  }
}

function current(): GlobalOverrides | undefined {
  return activeOverrides.at(-1)
}

type ReplacedGlobals = Pick<
  typeof globalThis,
  TimerName | 'clearTimeout' | 'clearInterval' | 'clearImmediate' | 'Date' | 'fetch'
> & { random(): number; exit: typeof process.exit }

/** Created once per set of real globals, not once per simulation: creating a class is slow, and it retains its closure. */
function replacementsOf(machine: ReplacedGlobals): ReplacedGlobals {
  const isSame =
    last && (Object.keys(machine) as (keyof ReplacedGlobals)[]).every((name) => last?.machine[name] === machine[name])
  if (!last || !isSame) last = { machine, made: makeReplacements(machine) }
  return last.made
}

let last: { readonly machine: ReplacedGlobals; readonly made: ReplacedGlobals } | undefined

function makeReplacements(machine: ReplacedGlobals): ReplacedGlobals {
  const RealDate = machine.Date
  class SimulatedDate extends RealDate {
    constructor(...parameters: [] | [number]) {
      if (parameters.length === 0) super(current()?.now() ?? RealDate.now())
      else super(...parameters)
    }

    static override now(): number {
      return current()?.now() ?? RealDate.now()
    }
  }
  const timers = {
    setTimeout: timer('setTimeout', machine.setTimeout as unknown as AnyFunction),
    setInterval: timer('setInterval', machine.setInterval as unknown as AnyFunction),
    setImmediate: timer('setImmediate', machine.setImmediate as unknown as AnyFunction),
    clearTimeout: clear(machine.clearTimeout as AnyFunction),
    clearInterval: clear(machine.clearInterval as AnyFunction),
    clearImmediate: clear(machine.clearImmediate as AnyFunction),
  }
  return {
    ...(timers as unknown as Pick<ReplacedGlobals, keyof typeof timers>),
    Date: SimulatedDate as unknown as DateConstructor,
    fetch: (...parameters) => {
      current()?.fetch(String(parameters[0]))
      return machine.fetch(...parameters)
    },
    random: () => current()?.random() ?? machine.random(),
    exit: ((code?: unknown) => {
      if (!current()?.exit(code)) machine.exit(code as number)
    }) as typeof process.exit,
  }
}

function timer(kind: TimerName, real: AnyFunction): AnyFunction {
  return (callback, ...rest) => {
    const [delay, ...parameters] = kind === 'setImmediate' ? [0, ...rest] : rest
    const stop = current()?.timer(kind, typeof delay === 'number' && delay > 0 ? delay : 0, () => {
      ;(callback as AnyFunction)(...parameters)
    })
    if (!stop) return real(callback, ...rest)
    const handle = { ref: () => handle, unref: () => handle, hasRef: () => true, [Symbol.toPrimitive]: () => 0 }
    stops.set(handle, stop)
    return handle
  }
}

function clear(real: AnyFunction): AnyFunction {
  return (handle) => {
    const stop = typeof handle === 'object' && handle !== null ? stops.get(handle) : undefined
    if (stop) stop()
    else real(handle)
    return undefined
  }
}
