/**
 * The command line as a person has it, for tests: a folder with a running plane and its controllers, and words typed in it.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runControllers } from 'evenkeel'
import type { Ready } from 'evenkeel'
import { liveRules } from 'evenkeel/testing'
import { SystemClock } from 'evenkeel/unstable/base'
import { main } from '../frame/main.ts'
import { controllers } from './lamps.fixture.ts'

export interface Said {
  readonly code: number
  readonly out: string
  readonly err: string
}

interface TypedOptions {
  readonly cwd: string
  readonly stdin?: string
  readonly signal?: AbortSignal
  readonly env?: Readonly<Record<string, string>>
  /** Hears what is printed as it is printed. */
  readonly onOut?: (text: string) => void
  /** As on a terminal of this width. */
  readonly columns?: number
}

/** Runs one command line in this process. */
export async function typed(
  words: readonly string[],
  { cwd, stdin = '', signal = new AbortController().signal, env = {}, onOut, columns }: TypedOptions,
): Promise<Said> {
  const said = { out: '', err: '' }
  const stdout = {
    write: (text: string): void => {
      said.out += text
      onOut?.(text)
    },
    ...(columns !== undefined && { isTTY: true, columns }),
  }
  const stderr = {
    write: (text: string): void => {
      said.err += text
    },
  }
  const input = (async function* () {
    yield Buffer.from(stdin)
  })()
  const code = await main(words, { stdout, stderr, stdin: input, env: { HOME: cwd, ...env }, cwd, signal })
  return { code, ...said }
}

export class TestCli {
  readonly folder: string
  readonly ready: Ready
  /** Where the manager can be asked. */
  readonly managerUrl: string
  readonly #stop: AbortController
  readonly #done: Promise<void>

  private constructor({
    folder,
    ready,
    managerUrl,
    stop,
    done,
  }: {
    folder: string
    ready: Ready
    managerUrl: string
    stop: AbortController
    done: Promise<void>
  }) {
    this.folder = folder
    this.ready = ready
    this.managerUrl = managerUrl
    this.#stop = stop
    this.#done = done
  }

  static async start(): Promise<TestCli> {
    const folder = await mkdtemp(join(tmpdir(), 'evenkeel-cli-'))
    const stop = new AbortController()
    let done: Promise<void> = Promise.resolve()
    let ready: Ready | undefined
    const managerUrl = await new Promise<string>((resolve, reject) => {
      done = runControllers(stop.signal, {
        controllers,
        embedded: true,
        port: 0,
        data: join(folder, 'data'),
        rules: liveRules(),
        endpoints: { port: 0, onListening: resolve },
        onReady: (made) => {
          ready = made
        },
      })
      done.catch(reject)
    })
    if (!ready) throw new Error('it listens before it is ready')
    await writeFile(
      join(folder, 'data', 'manager.json'),
      JSON.stringify({ managers: [{ name: 'test', url: managerUrl }] }),
    )
    return new TestCli({ folder, ready, managerUrl, stop, done })
  }

  type(words: readonly string[], options: Omit<TypedOptions, 'cwd'> = {}): Promise<Said> {
    return typed(words, { cwd: this.folder, ...options })
  }

  /** Types the same until it says what is expected, as somebody does who waits. */
  async typeUntil(words: readonly string[], expected: RegExp): Promise<Said> {
    for (let tries = 0; ; tries++) {
      const said = await this.type(words)
      if (expected.test(said.out + said.err)) return said
      if (tries >= 200)
        throw new Error(`${words.join(' ')} does not come to say ${String(expected)}: ${said.out}${said.err}`)
      await new Promise<void>((resolve) => {
        new SystemClock().after(50, resolve)
      })
    }
  }

  /** Makes an object by `apply`. */
  async apply(object: object): Promise<void> {
    const { code, err } = await this.type(['apply', '-f', '-'], { stdin: JSON.stringify(object) })
    if (code !== 0) throw new Error(err)
  }

  async stop(): Promise<void> {
    this.#stop.abort(new Error('the test is over'))
    await this.#done
    await rm(this.folder, { recursive: true, force: true })
  }
}

export function lamp(name: string, spec: object = { watts: 60 }): object {
  return { apiVersion: 'test.dev/v1', kind: 'Lamp', metadata: { name, namespace: 'default' }, spec }
}
