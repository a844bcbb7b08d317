/**
 * The tool `exec`: runs a command beside an object, as `evenkeel exec` does, and returns what it wrote.
 *
 * Invariants: no shell takes part unless the command names one; the command ends with the call, however that ends; of each output the
 * last part is kept, so that memory and result are bounded.
 */
import { refTo, type RemoteCommand } from 'evenkeel/client'
import type { JsonObject } from 'evenkeel/unstable/api'
import type { Clock } from 'evenkeel/unstable/base'
import { Failure } from '../failure.ts'
import type { ObjectTarget } from './scope.ts'
import { argument, changes, field, type Tool, type ToolCall } from './tool.ts'
import { targetOf } from './why-tools.ts'

/** A model writes it: more of it is a file. */
const stdinMax = 1_048_576

export const exec: Tool = {
  name: 'exec',
  title: 'Run a command',
  about:
    'Runs a command beside an object that has the subresource exec, such as a Process, a Container or a Pod: in its folder or container, with its environment. Returns the exit code and the last part of the output.',
  input: {
    ...argument,
    command: {
      type: 'array',
      items: { type: 'string' },
      description: 'The program and its arguments: ["ls", "-l"]. No shell reads them: ["sh", "-c", "..."] starts one',
    },
    container: { type: 'string', description: 'Of a Pod: in this container' },
    stdin: { type: 'string', description: 'What the command reads, at most 1 MiB. Default: nothing' },
    timeoutSeconds: {
      type: 'integer',
      minimum: 1,
      maximum: 600,
      default: 60,
      description: 'After this time the command is ended',
    },
  },
  required: ['kind', 'name', 'command'],
  output: {
    exitCode: field.number,
    stdout: field.text,
    stderr: field.text,
    isCut: field.flag,
    timedOut: field.flag,
  },
  effect: { ...changes({ isDestructive: true }), openWorldHint: true },
  narrow: 'let the command write less, for instance through tail',
  async run(given, call) {
    const { scope, bytesMax } = call
    const target = await targetOf(given, call)
    const command = given.texts('command')
    if (command.length === 0)
      throw new Failure('usage', 'command must name a program', { hint: 'command ["ls", "-l"]' })
    const [container, stdin] = [given.optional('container'), given.optional('stdin')]
    if (stdin !== undefined && Buffer.byteLength(stdin) > stdinMax)
      throw new Failure('usage', `stdin must have at most ${stdinMax} bytes`, { hint: 'put the text into a file' })
    const remote = await connectTo(
      target,
      { command, stdin: stdin !== undefined, ...(container && { container }) },
      call,
    )
    try {
      void send(remote, stdin)
      return await outcomeOf(remote, {
        clock: scope.clock,
        timeoutMs: given.count('timeoutSeconds', 60) * 1000,
        // As JSON a character may take twice its bytes, and there are two outputs.
        bytesMax: Math.floor(bytesMax / 5),
      })
    } finally {
      remote.close()
    }
  },
}

interface ExecOptions {
  readonly command: readonly string[]
  readonly stdin: boolean
  readonly container?: string
}

/** @throws {Failure} `usage` for a kind without `exec`, `not-found` with names that exist */
async function connectTo(
  target: ObjectTarget,
  options: ExecOptions,
  { scope, signal }: ToolCall,
): Promise<RemoteCommand> {
  const { resource, name, namespace } = target
  if (!resource.subresources.includes('exec'))
    throw new Failure('usage', `${resource.plural} have no subresource exec`, {
      hint: 'the tool kinds shows subresources; the tool logs shows output',
    })
  await scope.read(target, signal)
  const ref = refTo(resource, { name, ...(namespace !== undefined && { namespace }) })
  return (await scope.client()).subresource('exec').connect(ref, { ...options, signal })
}

interface OutcomeOptions {
  readonly clock: Clock
  readonly timeoutMs: number
  readonly bytesMax: number
}

async function outcomeOf(
  { stdout, stderr, result, close }: RemoteCommand,
  { clock, timeoutMs, bytesMax }: OutcomeOptions,
): Promise<JsonObject> {
  const [out, err] = [new OutputTail(bytesMax), new OutputTail(bytesMax)]
  let timedOut = false
  const cancel = clock.after(timeoutMs, () => {
    timedOut = true
    close()
  })
  try {
    await Promise.all([out.read(stdout), err.read(stderr)])
    const { exitCode } = await result
    return { exitCode, ...texts(out, err), timedOut: false }
  } catch (error) {
    if (!timedOut) throw error
    return { ...texts(out, err), timedOut: true }
  } finally {
    cancel()
  }
}

function texts(out: OutputTail, err: OutputTail): JsonObject {
  return { stdout: out.text, stderr: err.text, isCut: out.isCut || err.isCut }
}

/** The last bytes of an output. */
class OutputTail {
  readonly #bytesMax: number
  #pieces: Buffer[] = []
  #length = 0
  isCut = false

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  get text(): string {
    return Buffer.concat(this.#pieces).toString()
  }

  async read(output: AsyncIterable<Uint8Array>): Promise<void> {
    for await (const piece of output) this.#add(Buffer.from(piece))
  }

  #add(piece: Buffer): void {
    this.#pieces.push(piece)
    this.#length += piece.length
    if (this.#length <= this.#bytesMax) return
    this.isCut = true
    this.#pieces = [Buffer.concat(this.#pieces).subarray(-this.#bytesMax)]
    this.#length = this.#bytesMax
  }
}

/** Beside the output: a command that does not read must not hold up its time limit. */
async function send({ stdin }: RemoteCommand, text: string | undefined): Promise<void> {
  try {
    if (text !== undefined) await stdin.write(Buffer.from(text))
    stdin.end()
  } catch {
    // The command has ended: its result says how.
  }
}
