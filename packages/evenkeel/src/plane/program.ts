/**
 * Programs that another tool loads.
 *
 * The last line of a program is `await run({ ... })`. `evenkeel up app.ts` and `evenkeel explore app.ts` import that file,
 * and there `run` must not start a second server: it hands its options to the tool.
 *
 *   evenkeel up app.ts       importProgram ──▶ app.ts: await run(options) ──▶ { program: options }
 *                            the tool runs the controllers; `run` resolves when they have stopped
 *   evenkeel explore app.ts  the same, but `run` resolves at once, so that the module has all of its exports
 *
 * Invariant: while a program is loaded, and as long as its `run` has not returned, no `run` starts a server. A process that
 * only explored a program may call `run` for itself afterwards.
 *
 * The tool is found by a registered symbol: the program may load another copy of this package than the tool.
 */
import type { RunProgramOptions } from './run.ts'

/** Receives the options of a call of `run`; resolves when that call should. */
type TakeProgram = (program: RunProgramOptions) => Promise<void>

const takerKey = Symbol.for('evenkeel.take-program')
const registry = globalThis as { [takerKey]?: TakeProgram }

/** The tool that loads the program of this process; undefined when it was started by itself. */
export function programTaker(): TakeProgram | undefined {
  return registry[takerKey]
}

export interface LoadedProgram {
  /** The exports of the module; empty while it waits in `run`. */
  readonly exports: Readonly<Record<string, unknown>>
  /** The options of its call of `run`, if there was one. */
  readonly program: RunProgramOptions | undefined
  /** Resolves when the module has been evaluated, also what follows its call of `run`. */
  readonly finished: Promise<unknown>
}

export interface ImportProgramOptions {
  /** When `run` of the program returns. @default at once, and the module is evaluated to its end first */
  readonly until?: Promise<void>
  /**
   * How long to wait after the import for a call of `run`, as in `void main()`: until this resolves.
   *
   * @default not at all
   */
  readonly patience?: (exports: Readonly<Record<string, unknown>>) => Promise<void> | undefined
}

/**
 * Imports a module that declares controllers: by exports, or by a call of `run`.
 *
 * Modules are imported one after the other: a call of `run` belongs to the module that is being imported.
 *
 * @throws what the module throws; {RangeError} when it calls `run` twice.
 */
export async function importProgram(
  url: string,
  { until, patience }: ImportProgramOptions = {},
): Promise<LoadedProgram> {
  let program: RunProgramOptions | undefined
  const handedOver = new Promise<void>((resolve) => {
    registry[takerKey] = async (options) => {
      if (program) throw new RangeError('run was called twice: pass all controllers to one call')
      program = options
      resolve()
      await until
    }
  })
  const finished = import(url) as Promise<Readonly<Record<string, unknown>>>
  try {
    const exports = namedExports((await (until ? Promise.race([finished, handedOver]) : finished)) ?? {})
    const waiting = program ? undefined : patience?.(exports)
    if (waiting) await Promise.race([handedOver, waiting])
    return { exports, program, finished }
  } finally {
    if (until) void until.then(release)
    else release()
  }
}

/**
 * Without `"type": "module"` in its package.json a TypeScript module may be compiled to CommonJS when it is loaded. All that it
 * exports is in `default` then, with the mark that compilers set.
 *
 *   { default: { __esModule: true, app: … } }  ─▶  { app: … }
 */
function namedExports(exports: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { default: only } = exports
  const isCompiled = typeof only === 'object' && only !== null && '__esModule' in only
  return isCompiled ? { ...only, ...exports, default: (only as { default?: unknown }).default } : exports
}

function release(): void {
  delete registry[takerKey]
}
