/**
 * Stands between a program and the machine's own time, chance and end, for those who simulate them.
 *
 * Only simulations use this: everybody else is handed a clock and a source of chance. What is replaced is put back.
 */

/** What takes the place of the machine's own; each may say that it does not want to (undefined) and leave it to the machine. */
export interface MachineStandIns {
  /** @returns how to stop it, or undefined to leave it to the machine */
  timer(kind: 'setTimeout' | 'setInterval' | 'setImmediate', delayMs: number, callback: () => void): (() => void) | undefined
  /** Milliseconds since 1970. */
  now(): number | undefined
  random(): number | undefined
  /** @returns whether it was taken care of */
  exit(code: unknown): boolean
  /** Somebody reaches for the network. */
  fetch(what: string): void
}

type AnyFunction = (...parameters: unknown[]) => unknown

/** @returns what puts everything back */
export function replaceMachine(standIns: MachineStandIns): () => void {
  const { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate, Date: RealDate, fetch } = globalThis
  const { random } = Math
  const { exit } = process
  const stops = new Map<object, () => void>()
  const timer = (kind: 'setTimeout' | 'setInterval' | 'setImmediate', real: AnyFunction) => (callback: AnyFunction, ...rest: unknown[]): unknown => {
    const [delay, ...parameters] = kind === 'setImmediate' ? [0, ...rest] : rest
    const stop = standIns.timer(kind, typeof delay === 'number' && delay > 0 ? delay : 0, () => { callback(...parameters) })
    if (!stop) return real(callback, ...rest)
    const handle = { ref: () => handle, unref: () => handle, hasRef: () => true, [Symbol.toPrimitive]: () => 0 }
    stops.set(handle, stop)
    return handle
  }
  const clear = (real: AnyFunction) => (handle: unknown): void => {
    const stop = typeof handle === 'object' && handle !== null ? stops.get(handle) : undefined
    if (stop) stop()
    else real(handle)
  }
  class SimulatedDate extends RealDate {
    constructor(...parameters: [] | [number]) {
      if (parameters.length === 0) super(standIns.now() ?? RealDate.now())
      else super(...parameters)
    }

    static override now(): number {
      return standIns.now() ?? RealDate.now()
    }
  }
  Object.assign(globalThis, {
    setTimeout: timer('setTimeout', setTimeout as unknown as AnyFunction), setInterval: timer('setInterval', setInterval as unknown as AnyFunction), setImmediate: timer('setImmediate', setImmediate as unknown as AnyFunction),
    clearTimeout: clear(clearTimeout as AnyFunction), clearInterval: clear(clearInterval as AnyFunction), clearImmediate: clear(clearImmediate as AnyFunction), Date: SimulatedDate,
    fetch: (...parameters: Parameters<typeof fetch>) => {
      standIns.fetch(String(parameters[0]))
      return fetch(...parameters)
    },
  })
  Math.random = () => standIns.random() ?? random()
  process.exit = ((code?: unknown) => { if (!standIns.exit(code)) exit(code as number) }) as typeof process.exit
  return () => {
    Object.assign(globalThis, { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate, Date: RealDate, fetch })
    Math.random = random
    process.exit = exit
  }
}
