/**
 * Calls between two threads over a message port: each side serves functions by name and calls those of the other.
 *
 *   this side   call('get', 'a') ──▶ { id: 1, name: 'get', args: ['a'] } ──▶ the other side runs its function `get`
 *               resolves         ◀── { id: 1, value }                    ◀──
 *
 * Values are copied as by `structuredClone`, which copies bytes twice, and the whole memory under a `Uint8Array`, however
 * small the view. So bytes go in a {@link Transfer}: their memory moves to the other side.
 *
 * Invariants: every call settles; those that wait are rejected by {@link PortCalls.close}. Messages arrive in their order,
 * so a call runs after all earlier notices.
 */
import { deferred, type Deferred } from './deferred.ts'

/** The functions of one side. An error they throw rejects the call; that of a notice is dropped. */
export type PortFunctions = Readonly<Record<string, (...args: never[]) => unknown>>

/** An error on its way: names and texts. */
export interface PortError {
  readonly name: string
  readonly message: string
  readonly stack?: string | undefined
  /** The reason of an error that has one. */
  readonly reason?: string | undefined
}

type PortMessage =
  | { readonly id: number; readonly name: string; readonly args: readonly unknown[] }
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: PortError }

/** Notices have this id: there is no answer. */
const noticeId = 0

interface PortCallsOptions {
  readonly functions: PortFunctions
  /**
   * Makes an error of the other side one of this side.
   *
   * @default an `Error` with its name
   */
  readonly revive?: (error: PortError) => Error
}

/** A value whose bytes move to the other side: this side can use them no more. */
export class Transfer {
  readonly value: unknown
  readonly memory: readonly ArrayBuffer[]

  constructor(value: unknown, bytes: readonly Uint8Array[]) {
    this.value = value
    this.memory = [...new Set(bytes.map(({ buffer }) => buffer as ArrayBuffer))]
  }
}

/** A port or a worker. */
export interface CallPort {
  postMessage(message: unknown, memory?: readonly ArrayBuffer[]): void
  on(event: 'message', listener: (message: PortMessage) => void): unknown
  off(event: 'message', listener: (message: PortMessage) => void): unknown
}

export class PortCalls {
  readonly #port: CallPort
  readonly #functions: PortFunctions
  readonly #revive: (error: PortError) => Error
  readonly #waiting = new Map<number, Deferred<unknown>>()
  #lastId = noticeId
  #closed: Error | undefined

  constructor(port: CallPort, { functions, revive = plainError }: PortCallsOptions) {
    this.#port = port
    this.#functions = functions
    this.#revive = revive
    port.on('message', this.#receive)
  }

  /** Calls a function of the other side. */
  call<T>(name: string, ...args: readonly unknown[]): Promise<T> {
    if (this.#closed) return Promise.reject(this.#closed)
    const id = ++this.#lastId
    const answer = deferred<unknown>()
    this.#waiting.set(id, answer)
    try {
      this.#post({ id, name, args: args.map(valueOf) }, args)
    } catch (error) {
      this.#waiting.delete(id)
      return Promise.reject(error as Error)
    }
    return answer.promise as Promise<T>
  }

  /** Calls a function of the other side and does not wait for it. */
  notify(name: string, ...args: readonly unknown[]): void {
    if (!this.#closed) this.#post({ id: noticeId, name, args: args.map(valueOf) }, args)
  }

  /** Rejects all calls that wait, and all later ones. */
  close(reason: Error): void {
    this.#closed ??= reason
    this.#port.off('message', this.#receive)
    for (const answer of this.#waiting.values()) answer.reject(reason)
    this.#waiting.clear()
  }

  readonly #receive = (message: PortMessage): void => {
    if ('name' in message) {
      void this.#run(message)
      return
    }
    const answer = this.#waiting.get(message.id)
    this.#waiting.delete(message.id)
    if ('error' in message) answer?.reject(this.#revive(message.error))
    else answer?.resolve(message.value)
  }

  async #run({ id, name, args }: Extract<PortMessage, { readonly name: string }>): Promise<void> {
    let answer: PortMessage
    let value: unknown
    try {
      const run = this.#functions[name] as ((...args: readonly unknown[]) => unknown) | undefined
      if (!run) throw new TypeError(`there is no function ${name}`)
      value = await run(...args)
      answer = { id, value: valueOf(value) }
    } catch (error) {
      answer = { id, error: portError(error) }
    }
    if (id !== noticeId && !this.#closed) this.#post(answer, [value])
  }

  #post(message: PortMessage, values: readonly unknown[]): void {
    this.#port.postMessage(
      message,
      values.flatMap((value) => (value instanceof Transfer ? value.memory : [])),
    )
  }
}

function valueOf(given: unknown): unknown {
  return given instanceof Transfer ? given.value : given
}

/** Bytes with memory of their own, for a {@link Transfer}. */
export function copyBytes(bytes: Uint8Array): Uint8Array {
  // That of a Buffer is a view.
  return Uint8Array.prototype.slice.call(bytes)
}

function portError(error: unknown): PortError {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error) }
  const reason = (error as { readonly reason?: unknown }).reason
  return {
    name: error.name,
    message: error.message,
    stack: error.stack,
    ...(typeof reason === 'string' && { reason }),
  }
}

function plainError({ name, message, stack }: PortError): Error {
  const error = name === 'RangeError' ? new RangeError(message) : new Error(message)
  error.name = name
  if (stack !== undefined) error.stack = stack
  return error
}
