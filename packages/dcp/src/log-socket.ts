/**
 * The log of the program: lines for the host of the application, over a Unix socket that it listens on, or to stderr.
 *
 *   2030-01-31T12:00:00.000000Z \t info \t dcp \t application state changed {"from":"Running","to":"Stopping"}
 *
 * A host that does not read loses lines and stops nothing: what waits for it is bounded.
 */
import { connect } from 'node:net'
import { formatMicroTime } from 'evenkeel/unstable/api'
import { createLogger, type Clock, type Logger, type LogRecord } from 'evenkeel/unstable/base'

interface ProgramLog {
  readonly log: Logger
  /** Sends what is left. */
  close(): Promise<void>
}

interface ProgramLogOptions {
  readonly clock: Clock
  readonly level: 'debug' | 'info' | 'error'
  /** The path of the socket. @default stderr */
  readonly socketPath?: string | undefined
  readonly stderr: { write(text: string): unknown }
}

const waitingBytesMax = 1024 * 1024

export async function openProgramLog({ clock, level, socketPath, stderr }: ProgramLogOptions): Promise<ProgramLog> {
  const socket = socketPath === undefined ? undefined : await tryConnect(socketPath, stderr)
  if (!socket) {
    const sink = (record: LogRecord): void => {
      stderr.write(lineOf(record))
    }
    return { log: createLogger({ clock, level, sink }), close: () => Promise.resolve() }
  }
  const sink = (record: LogRecord): void => {
    if (socket.writable && socket.writableLength < waitingBytesMax) socket.write(lineOf(record))
  }
  return {
    log: createLogger({ clock, level, sink }),
    close: () =>
      new Promise((resolve) => {
        socket.once('close', resolve)
        if (socket.closed) resolve()
        socket.end(() => socket.destroy())
      }),
  }
}

type Socket = ReturnType<typeof connect>

function tryConnect(path: string, stderr: ProgramLogOptions['stderr']): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect(path)
    socket.once('connect', () => {
      resolve(socket)
    })
    // Also later: a host that has gone must not end the program.
    socket.on('error', (error) => {
      stderr.write(`the log socket ${path} cannot be used: ${error.message}\n`)
      resolve(undefined)
    })
    // Nothing is expected from there, and an open log must not keep the program alive.
    socket.resume()
    socket.unref()
  })
}

function lineOf({ level, timeMs, message, fields }: LogRecord): string {
  const { logger = 'dcp', ...rest } = fields
  const shown = Object.entries(rest).map(([name, value]) => [name, value instanceof Error ? value.message : value])
  const data = shown.length === 0 ? '' : ` ${JSON.stringify(Object.fromEntries(shown))}`
  return `${formatMicroTime(timeMs)}\t${level}\t${String(logger)}\t${message}${data}\n`
}
