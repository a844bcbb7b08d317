/**
 * `evenkeel replay`: runs the schedule of a replay file again, optionally step by step.
 */
import { stringifyJson } from 'evenkeel/unstable/api'
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import type { Replayed, ReplayStep, StoryLine } from 'evenkeel/testing'
import type { Command, Invocation, Io } from '../command.ts'
import { orBadFile, resolveModule } from '../modules.ts'
import { safeText } from '../terminal.ts'

export const replay: Command = {
  name: 'replay',
  about: 'run a failure of explore again, optionally step by step',
  usage: 'FILE',
  words: { least: 1, most: 1 },
  completes: 'files',
  options: {
    module: { type: 'string', value: 'MODULE', about: 'use this module instead of the one in the file' },
    steps: { type: 'boolean', about: 'print every step' },
    step: { type: 'boolean', about: 'wait for Enter before every step' },
  },
  details:
    'Exit code 0: the rule holds now, 1: it is still broken, 2: the file cannot be replayed. Under a debugger (node --inspect-brk) it stops at every fault.',
  examples: ['evenkeel replay explored/cleanup-e93bada4.json', 'evenkeel replay explored/cleanup-e93bada4.json --step'],
  async run(call) {
    const {
      words: [word = ''],
      values,
      io,
      json,
    } = call
    const path = resolve(io.cwd, word)
    const module = await moduleFor(path, call)
    const { formatLine, replayFile } = await import('evenkeel/testing')
    const isShown = values.flag('steps') || values.flag('step')
    const enter = values.flag('step') ? new Enter(io) : undefined
    const onStep = async (step: ReplayStep): Promise<void> => {
      io.stdout.write(json ? `${stringifyJson(step)}\n` : lineOf(step))
      if (step.isAction) await enter?.next()
    }
    try {
      const replayed = await orBadFile(replayFile(path, { module, signal: io.signal, ...(isShown && { onStep }) }))
      io.stdout.write(json ? `${stringifyJson(replayed)}\n` : verdict(replayed, formatLine))
      return replayed.isFound ? 1 : 0
    } finally {
      enter?.close()
    }
  },
}

/** The module of the file, relative to the file, or the one of --module. */
async function moduleFor(path: string, { values, io }: Invocation): Promise<string> {
  const given = values.text('module')
  if (given !== undefined) return resolveModule(given, io.cwd)
  const { parseReplayFile } = await import('evenkeel/testing')
  const { module } = await orBadFile(readFile(path, 'utf8').then(parseReplayFile))
  return resolveModule(module ?? '', resolve(path, '..'))
}

function lineOf({ step, atMs, actor, what, isFault, isBroken, isAction }: ReplayStep): string {
  const mark = isBroken ? '✗' : isFault ? '!' : ' '
  return safeText(
    `${mark} ${String(step).padStart(4)} ${(atMs / 1000).toFixed(3).padStart(9)} s  ${actor.padEnd(16)} ${isAction ? '' : '  '}${what}\n`,
  )
}

function verdict({ isFound, isSame, findings, story }: Replayed, formatLine: (line: StoryLine) => string): string {
  const lines = story.map((line, index) => `  ${index + 1}  ${formatLine(line)}\n`).join('')
  const found = [...new Set(findings.map(({ rule, message }) => `✗ ${rule}: ${message}\n`))].join('')
  const how = isSame ? 'The trace is the same.' : 'The trace differs: the code has changed since the exploration.'
  return safeText(`${lines}${found}${isFound ? 'The rule is still broken.' : 'The rule holds now.'} ${how}\n`)
}

/** Reads one line of standard input per step; after its end the replay continues without waiting. */
class Enter {
  readonly #lines: AsyncIterator<string>
  readonly #close: () => void

  constructor({ stdin }: Pick<Io, 'stdin'>) {
    const reader = createInterface({ input: Readable.from(stdin) })
    this.#lines = reader[Symbol.asyncIterator]()
    this.#close = () => {
      reader.close()
    }
  }

  async next(): Promise<void> {
    await this.#lines.next()
  }

  close(): void {
    this.#close()
  }
}
