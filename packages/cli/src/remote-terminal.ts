/**
 * The terminal of a person, connected with a command at an object: keys go there, output comes back.
 *
 *   keys ──▶ Ctrl-P Ctrl-Q? ──▶ stdin of the command
 *   size of the window ───────▶ resize
 *   stdout, stderr ◀─────────── output
 *
 * Invariant: however it ends, the person's terminal is as it was.
 */
import type { RemoteCommand } from 'evenkeel/client'
import type { Invocation, Io, Output } from './command.ts'

interface RemoteTerminalOptions {
  /** Keys go to the command. */
  readonly stdin: boolean
  /** Every key goes to the command, Ctrl-C as well. */
  readonly isRaw: boolean
  /** Ctrl-P Ctrl-Q leaves the command alone. */
  readonly isDetachable: boolean
}

/** Resolves with the exit code of the command; 0 when the person has detached. */
export async function connectTerminal(
  command: RemoteCommand,
  { io, json }: Pick<Invocation, 'io' | 'json'>,
  { stdin, isRaw, isDetachable }: RemoteTerminalOptions,
): Promise<number> {
  const { terminal } = io
  const keys = isDetachable ? new DetachKeys() : undefined
  const detached = new AbortController()
  const stopResizes = isRaw && terminal ? followSize(command, io, terminal.onResize.bind(terminal)) : undefined
  if (isRaw) terminal?.setRaw(true)
  try {
    if (stdin)
      void sendKeys(command, io.stdin, keys).then((isDetached) => {
        if (isDetached) detached.abort()
      })
    else command.stdin.end()
    const outputs = Promise.all([
      print(command.stdout, 'stdout', { io, json }),
      print(command.stderr, 'stderr', { io, json }),
    ])
    const exitCode = await Promise.race([command.result.then((result) => result.exitCode), abortOf(detached.signal)])
    if (exitCode === undefined) {
      io.stderr.write('\r\nDetached.\r\n')
      return 0
    }
    await outputs
    if (json) io.stdout.write(`${JSON.stringify({ exitCode })}\n`)
    return exitCode
  } finally {
    command.close()
    stopResizes?.()
    if (isRaw) terminal?.setRaw(false)
  }
}

function abortOf(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => {
      resolve(undefined)
    })
  })
}

function followSize(command: RemoteCommand, { stdout }: Io, onResize: (call: () => void) => () => void): () => void {
  const send = (): void => {
    const { columns: width, rows: height } = stdout
    if (width !== undefined && height !== undefined) command.resize({ width, height })
  }
  send()
  return onResize(send)
}

/** Whether the person has detached. */
async function sendKeys(
  { stdin }: RemoteCommand,
  typed: AsyncIterable<Uint8Array>,
  keys: DetachKeys | undefined,
): Promise<boolean> {
  try {
    for await (const piece of typed) {
      const bytes = keys ? keys.take(piece) : piece
      if (!bytes) return true
      await stdin.write(bytes)
    }
    stdin.end()
  } catch {
    // The command has ended: its result says how.
  }
  return false
}

async function print(
  output: AsyncIterable<Uint8Array>,
  name: 'stdout' | 'stderr',
  { io, json }: Pick<Invocation, 'io' | 'json'>,
): Promise<void> {
  const decoder = new TextDecoder()
  const target: Output = io[name]
  for await (const bytes of output) {
    if (json) io.stdout.write(`${JSON.stringify({ [name]: decoder.decode(bytes, { stream: true }) })}\n`)
    else if (target.writeBytes) await target.writeBytes(bytes)
    else target.write(decoder.decode(bytes, { stream: true }))
  }
}

const [ctrlP, ctrlQ] = [0x10, 0x11]

/**
 * Finds Ctrl-P Ctrl-Q among the keys. A Ctrl-P is held back until the next key is known.
 *
 * `a ^P b ^P ^Q` sends `a`, then `^P b`, then detaches.
 */
export class DetachKeys {
  #isHeld = false

  /** The keys to send; undefined when the person detaches. */
  take(piece: Uint8Array): Uint8Array | undefined {
    const sent: number[] = []
    for (const key of piece) {
      if (this.#isHeld && key === ctrlQ) return undefined
      if (this.#isHeld) sent.push(ctrlP)
      this.#isHeld = key === ctrlP
      if (!this.#isHeld) sent.push(key)
    }
    return Uint8Array.from(sent)
  }
}
