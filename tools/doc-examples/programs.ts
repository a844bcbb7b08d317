/**
 * Writes the programs of the pages to files, type-checks them in one run, and runs them in one process.
 *
 * One process loads the library once, which takes longer than all programs together. Each program is a module; its
 * `console.log` output is captured separately, because they run one after the other.
 */
import { spawn } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './pages.ts'
import type { Program } from './pages.ts'

export interface Ran {
  readonly where: string
  readonly printed: string
  /** Absent when the program ended successfully. */
  readonly error?: string
}

export class ProgramFiles {
  readonly #folder: string
  readonly #programs: readonly Program[]

  /** The folder is exclusively ours and initially empty. */
  constructor(folder: string, programs: readonly Program[]) {
    this.#folder = folder
    this.#programs = programs
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true })
    for (const program of programs) writeFileSync(join(folder, fileOf(program)), `${program.text}\nexport {}\n`)
  }

  /** Type errors by position in the page. Errors elsewhere are found by the check of the library. */
  async checkTypes(): Promise<readonly string[]> {
    const options = {
      noEmit: true,
      incremental: false,
      customConditions: ['source'],
      noUnusedLocals: false,
      noUnusedParameters: false,
      noPropertyAccessFromIndexSignature: false,
    }
    writeFileSync(
      join(this.#folder, 'tsconfig.json'),
      JSON.stringify({ extends: join(root, 'tsconfig.base.json'), compilerOptions: options, include: ['*.ts'] }),
    )
    const { output, code } = await runNode([
      join(root, 'node_modules', 'typescript-7', 'bin', 'tsc'),
      '-p',
      this.#folder,
      '--pretty',
      'false',
    ])
    const found = output
      .split('\n')
      .filter((line) => line.includes('error TS'))
      .flatMap((line) => this.#toPage(line))
    return code === 0 || output.includes('error TS') ? found : [output]
  }

  /** Runs them one after the other; a failure does not stop the others. */
  async run(): Promise<readonly Ran[]> {
    const parts = this.#programs
      .filter(({ isRun }) => isRun)
      .map((program) => `await tried(${JSON.stringify(whereIs(program))}, () => import('./${fileOf(program)}'))`)
    writeFileSync(join(this.#folder, 'all.ts'), `${driver}\n${parts.join('\n')}\n`)
    const { output, code } = await runNode([join(root, 'tools', 'run.mjs'), join(this.#folder, 'all.ts')])
    const lines = output
      .split('\n')
      .filter((line) => line.startsWith('{"where"'))
      .map((line) => JSON.parse(line) as Ran)
    const unseen = this.#programs.filter(
      (program) => program.isRun && !lines.some(({ where }) => where === whereIs(program)),
    )
    const rest = output
      .split('\n')
      .filter((line) => !line.startsWith('{"where"'))
      .join('\n')
      .slice(-2000)
    return [
      ...lines,
      ...unseen.map((program, index) => ({
        where: whereIs(program),
        printed: '',
        error:
          index > 0
            ? 'one before it did not come to its end'
            : `it did not come to its end (the process ended with ${code}) ${rest}`,
      })),
    ]
  }

  /** Maps a message about a file to the page. */
  #toPage(message: string): readonly string[] {
    const program = this.#programs.find((each) => message.includes(fileOf(each)))
    const line = Number(/\((\d+),/.exec(message)?.[1] ?? 0)
    return program ? [`${program.page}:${program.line + line - 1} ${message.slice(message.indexOf('error TS'))}`] : []
  }
}

export function whereIs({ page, line }: Program): string {
  return `${page}:${line}`
}

function fileOf({ page, line }: Program): string {
  return `${page
    .replace(/\.md$/, '')
    .replaceAll(/[^A-Za-z0-9]+/g, '-')
    .toLowerCase()}-${line}.ts`
}

/** Prints one line of JSON per program. */
const driver = `
import { format } from 'node:util'

const say = process.stdout.write.bind(process.stdout)
async function tried(where: string, load: () => Promise<unknown>): Promise<void> {
  const lines: string[] = []
  console.log = (...given: unknown[]) => { lines.push(format(...given) + '\\n') }
  let error: string | undefined
  try {
    await load()
  } catch (thrown) {
    error = thrown instanceof Error ? thrown.stack ?? thrown.message : String(thrown)
  }
  say(JSON.stringify({ where, printed: lines.join(''), error }) + '\\n')
}
`

/** The output on stdout and stderr, and the exit. */
function runNode(args: readonly string[]): Promise<{ output: string; code: number | null }> {
  const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], timeout: 150_000 })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (piece: Buffer) => {
      output += piece.toString()
    })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => {
      resolve({ output, code })
    })
  })
}
