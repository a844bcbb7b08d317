/** Events, logs and programs of the runtime in memory, and the few words of shell that its programs are written in. */
import { onAbort, type Clock } from 'evenkeel/unstable/base'
import { formatTime } from 'evenkeel/unstable/api'
import type { TerminalSize } from 'evenkeel/server'
import {
  RuntimeError,
  type ContainerStreams,
  type EventQuery,
  type Exec,
  type ExecPlan,
  type LogPiece,
  type LogQuery,
  type RuntimeEvent,
} from './container-runtime.ts'
import type { LogEntry, SimulatedContainer } from './simulated-container.ts'

/** One step of a program. */
export type Step =
  | { readonly do: 'echo'; readonly stream: LogPiece['stream']; readonly text: string }
  | { readonly do: 'sleep'; readonly ms: number }
  | { readonly do: 'exit'; readonly exitCode: number }
  | { readonly do: 'trap' | 'oom' | 'cat' | 'shell' | 'size' | 'wait' }

/** The steps of a program; undefined for one that does not exist. A container without a command waits for its stop. */
export function parseProgram(command: readonly string[]): readonly Step[] | undefined {
  if (command.length === 0) return [{ do: 'wait' }]
  const isScript = command[0] === 'sh' && command[1] === '-c'
  const lines = isScript ? (command[2] ?? '').split(';').map((line) => line.trim()) : [command.join(' ')]
  const steps = lines.filter((line) => line !== '').map(parseStep)
  return steps.includes(undefined) ? undefined : (steps as readonly Step[])
}

function parseStep(line: string): Step | undefined {
  const [word = '', ...rest] = line.split(/\s+/)
  const isError = rest.at(-1) === '>&2'
  switch (word) {
    case 'echo':
      return { do: 'echo', stream: isError ? 'stderr' : 'stdout', text: (isError ? rest.slice(0, -1) : rest).join(' ') }
    case 'sleep':
      return { do: 'sleep', ms: Number(rest[0]) * 1000 }
    case 'exit':
      return { do: 'exit', exitCode: Number(rest[0]) }
    case 'true':
    case 'false':
      return { do: 'exit', exitCode: word === 'true' ? 0 : 1 }
    case 'trap':
    case 'oom':
    case 'cat':
      return { do: word }
    case 'sh':
      return { do: 'shell' }
    case 'stty':
      return { do: 'size' }
    default:
      return undefined
  }
}

interface SimulatedStreamsOptions {
  readonly clock: Clock
  /** @throws when the runtime sleeps */
  readonly check: () => void
  readonly find: (id: string) => SimulatedContainer
}

/** A reader that waits. */
interface Reader {
  wake(): void
  isBroken: boolean
}

export class SimulatedStreams implements ContainerStreams {
  readonly #options: SimulatedStreamsOptions
  readonly #readers = new Set<Reader>()
  readonly #queues = new Set<RuntimeEvent[]>()

  constructor(options: SimulatedStreamsOptions) {
    this.#options = options
  }

  async *events({ signal, onOpen }: EventQuery): AsyncGenerator<RuntimeEvent> {
    this.#options.check()
    const queue: RuntimeEvent[] = []
    this.#queues.add(queue)
    const reader = this.#reader(signal)
    onOpen?.()
    try {
      while (!signal.aborted) {
        yield* queue.splice(0)
        if (reader.isBroken) throw new RuntimeError('Unavailable', 'the simulated runtime has gone')
        if (queue.length === 0) await reader.changed(signal)
      }
    } finally {
      this.#queues.delete(queue)
      reader.close()
    }
  }

  async *logs(id: string, query: LogQuery = {}): AsyncGenerator<LogPiece> {
    this.#options.check()
    const { follow = false, tailLines, sinceMs = 0, timestamps = false, signal } = query
    const container = this.#options.find(id)
    let next = tailLines === undefined ? 0 : Math.max(0, container.log.length - tailLines)
    const reader = this.#reader(signal)
    try {
      for (;;) {
        const waiting = container.log.slice(next).filter(({ atMs }) => atMs >= sinceMs)
        next = container.log.length
        yield* waiting.map(({ stream, text, atMs }) => ({
          stream,
          bytes: new TextEncoder().encode(timestamps ? `${formatTime(atMs)} ${text}` : text),
        }))
        if (next < container.log.length) continue
        if (!follow || signal?.aborted || reader.isBroken || container.state === 'exited') return
        await reader.changed(signal)
      }
    } finally {
      reader.close()
    }
  }

  exec(id: string, plan: ExecPlan): Promise<Exec> {
    this.#options.check()
    const { state } = this.#options.find(id)
    if (state !== 'running') throw new RuntimeError('Conflict', `container ${id} is not running`)
    const steps = parseProgram(plan.command)
    if (!steps)
      throw new RuntimeError('CommandNotFound', `exec: "${plan.command[0] ?? ''}": executable file not found in $PATH`)
    return Promise.resolve(new SimulatedExec(steps, plan))
  }

  /* What the runtime does. */

  tell(event: RuntimeEvent): void {
    for (const queue of this.#queues) queue.push(event)
    this.#wakeAll()
  }

  write(container: SimulatedContainer, { stream, text }: Pick<LogEntry, 'stream' | 'text'>): void {
    container.log.push({ stream, text, atMs: this.#options.clock.now() })
    this.#wakeAll()
  }

  end(_: SimulatedContainer): void {
    this.#wakeAll()
  }

  /** The runtime is gone, and every connection with it. */
  breakAll(): void {
    for (const reader of this.#readers) reader.isBroken = true
    this.#wakeAll()
  }

  #wakeAll(): void {
    for (const reader of this.#readers) reader.wake()
  }

  #reader(signal: AbortSignal | undefined) {
    const reader = {
      isBroken: false,
      wake: (): void => undefined,
      changed: (stop: AbortSignal | undefined) =>
        new Promise<void>((resolve) => {
          reader.wake = resolve
          onAbort(stop, () => {
            resolve()
          })
        }),
      close: (): void => {
        this.#readers.delete(reader)
      },
    }
    if (!signal?.aborted) this.#readers.add(reader)
    return reader
  }
}

/** A program of an exec: its steps, or with `sh` those that are typed, one in a line. */
class SimulatedExec implements Exec {
  readonly output: AsyncIterable<LogPiece>
  readonly #plan: ExecPlan
  #size: TerminalSize = { width: 80, height: 24 }
  #exitCode: number | undefined

  constructor(steps: readonly Step[], plan: ExecPlan) {
    this.#plan = plan
    this.output = this.#run(steps)
  }

  readonly findExitCode = (): Promise<number> => Promise.resolve(this.#exitCode ?? 0)

  readonly resize = (size: TerminalSize): Promise<void> => {
    this.#size = size
    return Promise.resolve()
  }

  async *#run(steps: Iterable<Step> | AsyncIterable<Step>): AsyncGenerator<LogPiece> {
    for await (const step of steps) {
      yield* this.#perform(step)
      if (this.#exitCode !== undefined) return
    }
  }

  async *#perform(step: Step): AsyncGenerator<LogPiece> {
    const { input, terminal = false } = this.#plan
    const { width, height } = this.#size
    if (step.do === 'echo') yield pieceOf(step.text, terminal ? 'stdout' : step.stream)
    if (step.do === 'size') yield terminal ? pieceOf(`${height} ${width}`) : pieceOf('stty: not a terminal', 'stderr')
    if (step.do === 'cat' && input) for await (const bytes of input) yield { stream: 'stdout', bytes }
    if (step.do === 'shell' && input) yield* this.#run(stepsIn(input))
    if (step.do === 'exit') this.#exitCode = step.exitCode
  }
}

function pieceOf(line: string, stream: LogPiece['stream'] = 'stdout'): LogPiece {
  return { stream, bytes: new TextEncoder().encode(`${line}\n`) }
}

/** What is typed, line by line. */
async function* stepsIn(input: AsyncIterable<Uint8Array>): AsyncGenerator<Step> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const bytes of input) {
    const lines = (text + decoder.decode(bytes, { stream: true })).split('\n')
    text = lines.pop() ?? ''
    for (const line of lines) yield* parseProgram(['sh', '-c', line]) ?? []
  }
}
