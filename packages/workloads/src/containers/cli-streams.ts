/** Events, logs and programs in containers by the executable of a runtime: its output as it comes. */
import { spawn, type ChildProcess } from 'node:child_process'
import { onAbort } from 'evenkeel/unstable/base'
import {
  RuntimeError,
  type ContainerStreams,
  type EventQuery,
  type Exec,
  type ExecPlan,
  type Labels,
  type LogPiece,
  type LogQuery,
  type RuntimeEvent,
} from './container-runtime.ts'
import { OpenTerminal } from '../open-terminal.ts'
import { ScriptTerminals, type Terminals } from '../terminal.ts'
import { readJsonLines } from './log-frames.ts'

export interface CliOptions {
  /** `docker`, `podman`, or a path to one of them. */
  readonly executable: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** For programs that want a terminal. @default the program `script` of util-linux */
  readonly terminals?: Terminals
}

export function isPodman(executable: string): boolean {
  return /podman[^/]*$/.test(executable)
}

interface CliEvent {
  readonly Action?: string
  readonly Status?: string
  readonly ID?: string
  readonly Actor?: { readonly ID?: string; readonly Attributes?: Labels }
  readonly Attributes?: Labels
}

/** How much waits for a reader before the program is held up. */
const piecesMax = 64

export class CliStreams implements ContainerStreams {
  readonly #options: CliOptions

  constructor(options: CliOptions) {
    this.#options = options
  }

  async *events({ signal, sinceMs, onOpen }: EventQuery): AsyncGenerator<RuntimeEvent> {
    const since = (sinceMs / 1000).toFixed(0)
    const format = isPodman(this.#options.executable) ? 'json' : '{{json .}}'
    const child = this.#spawn(['events', '--filter', 'type=container', '--since', since, '--format', format], {
      signal,
    })
    onOpen?.()
    for await (const line of readJsonLines(bytesOf(outputOf(child)))) {
      const { Action, Status, ID, Actor, Attributes } = line as CliEvent
      yield {
        action: Action ?? Status ?? '',
        containerId: Actor?.ID ?? ID ?? '',
        labels: Actor?.Attributes ?? Attributes ?? {},
      }
    }
    if (!signal.aborted) throw new RuntimeError('Unavailable', 'the stream of events has ended')
  }

  async *logs(container: string, query: LogQuery = {}): AsyncGenerator<LogPiece> {
    const { follow = false, tailLines, sinceMs, timestamps = false, signal } = query
    const child = this.#spawn(
      [
        'logs',
        ...(follow ? ['--follow'] : []),
        ...(timestamps ? ['--timestamps'] : []),
        ...(tailLines === undefined ? [] : ['--tail', String(tailLines)]),
        ...(sinceMs === undefined ? [] : ['--since', String(Math.floor(sinceMs / 1000))]),
        container,
      ],
      { ...(signal && { signal }) },
    )
    yield* outputOf(child)
  }

  async exec(container: string, plan: ExecPlan): Promise<Exec> {
    const { command, env = {}, workingDir, input, terminal = false, signal } = plan
    const words = [
      'exec',
      ...(input ? ['--interactive'] : []),
      ...(terminal ? ['--tty'] : []),
      ...Object.entries(env).flatMap(([name, value]) => ['--env', `${name}=${value}`]),
      ...(workingDir === undefined ? [] : ['--workdir', workingDir]),
      container,
      ...command,
    ]
    if (terminal) return this.#execInTerminal(words, plan)
    const child = this.#spawn(words, { hasInput: input !== undefined, ...(signal && { signal }) })
    if (input && child.stdin) void feed(child.stdin, input)
    return Promise.resolve({
      output: outputOf(child),
      findExitCode: exitCodeOf(child),
      resize: () => Promise.resolve(),
    })
  }

  /** The executable passes on the size of its own terminal, and wants one: so it gets one. */
  async #execInTerminal(words: readonly string[], { input, signal }: ExecPlan): Promise<Exec> {
    const { executable, env, terminals = new ScriptTerminals() } = this.#options
    const wrapped = terminals.wrap({ command: [executable, ...words], env: definedOf(env) })
    if ('failure' in wrapped) throw new RuntimeError('Failed', wrapped.failure.message)
    const [program = '', ...rest] = wrapped.command
    const child = spawn(program, rest, { env: wrapped.env, stdio: ['pipe', 'pipe', 'pipe', 'pipe'] })
    stopWith(child, signal)
    const open = new OpenTerminal(child, { terminals })
    if (input) void typeInto(open, input)
    return Promise.resolve({
      output: outputOf(child),
      findExitCode: exitCodeOf(child),
      resize: (size) => open.resize(size),
    })
  }

  #spawn(
    command: readonly string[],
    { signal, hasInput = false }: { readonly signal?: AbortSignal; readonly hasInput?: boolean },
  ): ChildProcess {
    const { executable, env } = this.#options
    const child = spawn(executable, command, { env, stdio: [hasInput ? 'pipe' : 'ignore', 'pipe', 'pipe'] })
    stopWith(child, signal)
    return child
  }
}

function stopWith(child: ChildProcess, signal: AbortSignal | undefined): void {
  const stop = onAbort(signal, () => child.kill('SIGTERM'))
  child.once('close', stop)
  child.once('error', stop)
}

/** From now on: the end of a program is reported once. */
function exitCodeOf(child: ChildProcess): () => Promise<number> {
  const exited = new Promise<number>((resolve) => {
    child.once('close', (exitCode) => {
      resolve(exitCode ?? -1)
    })
  })
  return () => exited
}

function definedOf(env: CliOptions['env']): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
}

/** The end of the input is a Ctrl-D. */
async function typeInto(terminal: OpenTerminal, input: AsyncIterable<Uint8Array>): Promise<void> {
  try {
    for await (const bytes of input) await terminal.write(bytes)
    terminal.end()
  } catch {
    // The person has left: the signal ends the program.
  }
}

/** Both streams in the order in which they are read. */
async function* outputOf(child: ChildProcess): AsyncGenerator<LogPiece> {
  const waiting: LogPiece[] = []
  let [isOver, wake]: [boolean, () => void] = [false, () => undefined]
  const sources = [
    ['stdout', child.stdout],
    ['stderr', child.stderr],
  ] as const
  for (const [stream, source] of sources)
    source?.on('data', (bytes: Uint8Array) => {
      waiting.push({ stream, bytes })
      if (waiting.length >= piecesMax) source.pause()
      wake()
    })
  const end = (): void => {
    isOver = true
    wake()
  }
  child.once('close', end)
  child.once('error', end)
  try {
    for (;;) {
      const piece = waiting.shift()
      if (piece) {
        yield piece
        continue
      }
      if (isOver) return
      for (const [, source] of sources) source?.resume()
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  } finally {
    if (child.exitCode === null) child.kill('SIGTERM')
  }
}

async function* bytesOf(pieces: AsyncIterable<LogPiece>): AsyncGenerator<Uint8Array> {
  for await (const { stream, bytes } of pieces) if (stream === 'stdout') yield bytes
}

async function feed(target: NonNullable<ChildProcess['stdin']>, input: AsyncIterable<Uint8Array>): Promise<void> {
  target.on('error', () => undefined)
  for await (const bytes of input) {
    if (target.destroyed) return
    if (!target.write(bytes)) await new Promise((resolve) => target.once('drain', resolve).once('close', resolve))
  }
  target.end()
}
