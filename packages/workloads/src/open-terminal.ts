/**
 * An open terminal, as a process in it is used: what is typed, its size, and what it shows.
 *
 *   program ──▶ output ──▶ log file
 *                 ├──────▶ a person who is attached
 *                 └──────▶ another one
 *
 * Invariants: the log file gets everything, at its own pace; a person who does not read gets an error after 1 MiB, and holds
 * up neither the program nor the log.
 */
import { once } from 'node:events'
import type { ChildProcess } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import type { TerminalSize } from 'evenkeel/server'
import { deviceDescriptor, type Terminals } from './terminal.ts'

const unreadBytesMax = 1_048_576

export class OpenTerminal {
  readonly #child: ChildProcess
  readonly #terminals: Terminals
  readonly #device: Promise<string>

  constructor(child: ChildProcess, { terminals }: { readonly terminals: Terminals }) {
    this.#child = child
    this.#terminals = terminals
    this.#device = readDevice(child)
    child.stdin?.on('error', () => undefined)
    child.stdout?.on('error', () => undefined)
  }

  /** Also writes what it shows into a file. */
  logTo(path: string): void {
    this.#child.stdout?.pipe(createWriteStream(path, { flags: 'a', mode: 0o600 })).on('error', () => undefined)
  }

  /** Types; resolves when there is room for more. What comes too late is dropped. */
  async write(bytes: Uint8Array): Promise<void> {
    const { stdin } = this.#child
    if (!stdin || !stdin.writable || stdin.write(bytes)) return
    const stop = new AbortController()
    const room = once(stdin, 'drain', { signal: stop.signal })
    const end = once(stdin, 'close', { signal: stop.signal })
    await Promise.race([room, end]).catch(() => undefined)
    for (const left of [room, end]) left.catch(() => undefined)
    stop.abort()
  }

  /** As if the person pressed Ctrl-D. */
  end(): void {
    this.#child.stdin?.end()
  }

  async resize(size: TerminalSize): Promise<void> {
    const device = await this.#device
    if (device !== '') await this.#terminals.resize(device, size)
  }

  /** What it shows from now on, until the program has ended. */
  output({ signal }: { readonly signal: AbortSignal }): AsyncIterable<Uint8Array> {
    const { stdout } = this.#child
    const shown = new Readable({ read: () => undefined })
    const take = (piece: Uint8Array): void => {
      if (shown.readableLength > unreadBytesMax) shown.destroy(new Error('the reader of the terminal is too slow'))
      else shown.push(piece)
    }
    const end = (): void => {
      shown.push(null)
    }
    stdout?.on('data', take).once('close', end)
    if (!stdout || stdout.destroyed) end()
    const leave = (): void => {
      shown.destroy()
    }
    signal.addEventListener('abort', leave, { once: true })
    shown.once('close', () => {
      stdout?.off('data', take).off('close', end)
      signal.removeEventListener('abort', leave)
      // Without any reader a stream would wait for one.
      stdout?.resume()
    })
    return shown as AsyncIterable<Uint8Array>
  }
}

/** The name of the device; empty when the program ended before it was known. */
async function readDevice({ stdio }: ChildProcess): Promise<string> {
  const pipe = stdio[deviceDescriptor]
  if (!(pipe instanceof Readable)) return ''
  let text = ''
  try {
    // `script` keeps its end open, so there is no end of file.
    for await (const piece of pipe) if ((text += String(piece)).includes('\n')) break
  } catch {
    return ''
  }
  return text.trim()
}
