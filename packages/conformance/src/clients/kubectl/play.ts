/**
 * Plays a session: its steps in order, in a folder and a namespace of its own.
 *
 * Invariant: no kubectl outlives the session.
 */
import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { deferred } from 'evenkeel/unstable/base'
import type { Deferred } from 'evenkeel/unstable/base'
import { isAtLeast } from './binaries.ts'
import type { Kubectl } from './binaries.ts'
import type { During, Expected, Session, Step, Text } from './session.ts'
import { fill, matches, splitArguments } from './text.ts'

export interface Stage {
  readonly kubectl: Kubectl
  readonly kubeconfig: string
  /** Where kubectl keeps what it found out about the server, and where sessions have their folders. */
  readonly home: string
  /** The server is not one of ours. */
  readonly foreign?: boolean
  /** Is told every step that was played. */
  readonly report?: (step: Step, outcome: Outcome) => void
}

/** How a step ended. */
export interface Outcome {
  readonly code: number
  readonly out: string
  readonly err: string
}

interface Scene extends Stage {
  readonly folder: string
  readonly namespace: string
}

const stepMs = 30_000
const contextFile = 'context.json'

/** Plays a session to its end. @throws {Error} At the first step that goes otherwise than expected. */
export async function play(session: Session, stage: Stage): Promise<void> {
  const folder = await mkdtemp(join(stage.home, `${session.name}-`))
  const namespace = folder.slice(folder.lastIndexOf('/') + 1).toLowerCase().replaceAll('_', 'x')
  const scene: Scene = { ...stage, folder, namespace }
  await writeFile(join(folder, contextFile), contextOf(scene))
  for (const [name, text] of Object.entries(session.files ?? {})) await writeFile(join(folder, name), filled(text, scene))
  await playStep({ run: 'create namespace $NS', expect: { out: 'namespace/$NS created' } }, scene)
  await playSteps(session.steps, scene)
  await rm(folder, { recursive: true, force: true })
}

/** kubectl merges its files: this one only says where the session is. A flag would make it warn about what has no namespace. */
function contextOf({ kubectl, kubeconfig, namespace }: Scene): string {
  const names = 'jsonpath={.contexts[0].context.cluster} {.contexts[0].context.user}'
  const { stdout } = spawnSync(kubectl.path, ['config', 'view', '--minify', '--kubeconfig', kubeconfig, '-o', names], { encoding: 'utf8' })
  const [cluster, user] = stdout.split(' ')
  return JSON.stringify({ apiVersion: 'v1', kind: 'Config', 'current-context': 'session', contexts: [{ name: 'session', context: { cluster, user, namespace } }] })
}

async function playSteps(steps: readonly Step[], scene: Scene): Promise<void> {
  for (const step of steps) await playStep(step, scene)
}

async function playStep(step: Step, scene: Scene): Promise<void> {
  if (!isFor(step, scene)) return
  const outcome = await runStep(step, scene)
  if (scene.report) scene.report(step, outcome)
  else judge(step, { outcome, scene })
}

function isFor({ since = '0.0', until, differs }: Step, { kubectl: { version }, foreign = false }: Scene): boolean {
  return isAtLeast(version, since) && (until === undefined || !isAtLeast(version, until)) && !(foreign && differs !== undefined)
}

async function runStep(step: Step, scene: Scene): Promise<Outcome> {
  const child = spawn(scene.kubectl.path, splitArguments(filled(step.run, scene)), {
    cwd: scene.folder,
    env: {
      PATH: process.env['PATH'],
      HOME: scene.home,
      KUBECONFIG: [join(scene.folder, contextFile), scene.kubeconfig].join(delimiter),
      ...step.editor !== undefined && { KUBE_EDITOR: filled(step.editor, scene) },
    },
    signal: AbortSignal.timeout(stepMs),
    killSignal: 'SIGKILL',
  })
  child.stdin.on('error', () => undefined).end(filled(step.stdin ?? '', scene))
  const heard = listenTo(child)
  if (step.during) await playDuring(step.during, { heard, child, scene })
  return heard.ended
}

interface Heard {
  readonly ended: Promise<Outcome>
  /** Resolves when either output has it; rejects when the program ends without. */
  until(pattern: RegExp): Promise<void>
}

interface Awaited {
  readonly pattern: RegExp
  readonly seen: Deferred<undefined>
}

function listenTo(child: ChildProcess): Heard {
  const told = { out: '', err: '' }
  const awaited = new Set<Awaited>()
  const look = (): void => {
    for (const { pattern, seen } of awaited) if (pattern.test(told.out) || pattern.test(told.err)) seen.resolve(undefined)
  }
  const hear = (name: 'out' | 'err') => (piece: string): void => {
    told[name] += piece
    look()
  }
  child.stdout?.setEncoding('utf8').on('data', hear('out'))
  child.stderr?.setEncoding('utf8').on('data', hear('err'))
  const ended = deferred<Outcome>()
  child.on('error', (error) => { told.err += `\n${String(error)}` })
  child.on('close', (code) => {
    ended.resolve({ code: code ?? -1, ...told })
    for (const { pattern, seen } of awaited) seen.reject(new Error(`kubectl ended before it wrote ${String(pattern)}\n${told.out}\n${told.err}`))
  })
  const until = async (pattern: RegExp): Promise<void> => {
    const one: Awaited = { pattern, seen: deferred<undefined>() }
    awaited.add(one)
    look()
    await one.seen.promise.finally(() => awaited.delete(one))
  }
  return { ended: ended.promise, until }
}

async function playDuring({ ready, steps, enough }: During, { heard, child, scene }: { heard: Heard, child: ChildProcess, scene: Scene }): Promise<void> {
  try {
    await heard.until(ready)
    await playSteps(steps, scene)
    if (enough) await heard.until(filledPattern(enough, scene))
  } catch (error) {
    child.kill('SIGKILL')
    throw error
  }
  if (enough) child.kill('SIGINT')
}

function judge(step: Step, { outcome, scene }: { outcome: Outcome, scene: Scene }): void {
  const { out, err, code: given } = step.expect ?? {}
  // Whoever interrupts a program does not ask how it ended.
  const code = given ?? (step.during?.enough ? outcome.code : 0)
  const quiet: Text | undefined = code === 0 && !step.during ? '' : undefined
  const wanted: Expected = { code, ...out !== undefined && { out: fill(out, scene.namespace) }, ...(err ?? quiet) !== undefined && { err: fill(err ?? quiet ?? '', scene.namespace) } }
  const wrong = [
    outcome.code !== code && `exit code ${outcome.code} instead of ${code}`,
    wanted.out !== undefined && !matches(outcome.out, wanted.out) && `expected output:\n${String(wanted.out)}`,
    wanted.err !== undefined && !matches(outcome.err, wanted.err) && `expected complaint:\n${String(wanted.err)}`,
  ].filter((one) => one !== false)
  if (wrong.length === 0) return
  throw new Error(`kubectl ${step.run}\n${wrong.join('\n')}\n--- output\n${outcome.out}--- complaint\n${outcome.err}`)
}

function filled(text: string, { namespace }: Scene): string {
  return text.replaceAll('$NS', namespace)
}

function filledPattern(pattern: RegExp, { namespace }: Scene): RegExp {
  return fill(pattern, namespace) as RegExp
}
