/**
 * Two processes, one folder: both try at the same moment, and exactly one may get it. From time to time
 * the owner is killed, and the other must be able to take over immediately.
 */
import { spawn } from 'node:child_process'
import type { ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { sourceArguments } from '../run.mjs'

export interface PairResult {
  pairs: number
  /** Rounds in which one of the two got the folder. */
  acked: number
  /** Rounds in which neither process got it. */
  lost: number
  /** Rounds in which both got it, or with another result. */
  garbage: number
  takeovers: number
  /** The longest time from the death of an owner to its successor. */
  recoveryMs: number
}

const rivalFile = fileURLToPath(new URL('./rival.ts', import.meta.url))

/** After how many rounds the owner is killed. */
const killEvery = 20

class Rival {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>
  readonly #answers: AsyncIterator<string>

  constructor(folder: string) {
    this.#child = spawn(process.execPath, [...sourceArguments(rivalFile), folder], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    this.#answers = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]()
  }

  /** Its next line. */
  async answer(): Promise<string> {
    const { value } = (await this.#answers.next()) as { value?: string }
    return value ?? 'gone'
  }

  tell(word: 'open' | 'close'): Promise<string> {
    this.#child.stdin.write(`${word}\n`)
    return this.answer()
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL')
    await once(this.#child, 'exit')
  }
}

export async function runPairs(
  wanted: number,
  { onProgress }: { onProgress: (pairs: number) => void },
): Promise<PairResult> {
  const parent = await mkdtemp(path.join(os.tmpdir(), 'evenkeel-pair-'))
  const folder = path.join(parent, 'data')
  const result: PairResult = { pairs: 0, acked: 0, lost: 0, garbage: 0, takeovers: 0, recoveryMs: 0 }
  let rivals = [await startRival(folder), await startRival(folder)] as const
  try {
    while (result.pairs < wanted) {
      const owner = await meet(rivals, result)
      onProgress(++result.pairs)
      if (!owner) continue
      if (result.pairs % killEvery === 0)
        rivals = await succeed(folder, { owner, other: rivals[0] === owner ? rivals[1] : rivals[0], result })
      else await owner.tell('close')
    }
  } finally {
    for (const rival of rivals) await rival.kill()
    await rm(parent, { recursive: true, force: true })
  }
  return result
}

async function startRival(folder: string): Promise<Rival> {
  const rival = new Rival(folder)
  await rival.answer()
  return rival
}

async function meet(rivals: readonly [Rival, Rival], result: PairResult): Promise<Rival | undefined> {
  const [first, second] = await Promise.all([rivals[0].tell('open'), rivals[1].tell('open')])
  const answers = [first, second].sort().join(' ')
  if (answers === 'locked own') result.acked++
  else if (answers === 'locked locked') result.lost++
  else {
    result.garbage++
    throw new Error(`unexpected output of two processes: ${answers}`)
  }
  return first === 'own' ? rivals[0] : second === 'own' ? rivals[1] : undefined
}

/** Kills the owner; the other must get the folder at the first try. */
async function succeed(
  folder: string,
  { owner, other, result }: { owner: Rival; other: Rival; result: PairResult },
): Promise<readonly [Rival, Rival]> {
  await owner.kill()
  const started = performance.now()
  if ((await other.tell('open')) !== 'own') result.lost++
  result.recoveryMs = Math.max(result.recoveryMs, performance.now() - started)
  result.takeovers++
  await other.tell('close')
  return [other, await startRival(folder)]
}
