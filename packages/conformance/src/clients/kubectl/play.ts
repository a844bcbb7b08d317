/**
 * Plays a session: its steps in order, in its own folder and namespace.
 *
 * Invariant: no kubectl outlives the session.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { basename, delimiter, join } from 'node:path'
import { isAtLeast } from './binaries.ts'
import type { Kubectl } from './binaries.ts'
import { startProgram } from './program.ts'
import type { Outcome, Program } from './program.ts'
import type { During, Session, Step, Text } from './session.ts'
import { fill, matches, splitArguments } from './text.ts'

interface Stage {
  readonly kubectl: Kubectl
  readonly kubeconfig: string
  /** The discovery cache of kubectl, and the folders of the sessions. */
  readonly home: string
}

interface Scene extends Stage {
  readonly folder: string
  readonly namespace: string
  /** Placeholders and their values. */
  readonly words: Map<string, string>
}

const contextFile = 'context.json'

/** Plays a session to its end. @throws {Error} At the first step with an unexpected result. */
export async function playSession(session: Session, stage: Stage): Promise<void> {
  const folder = await mkdtemp(join(stage.home, `${session.name}-`))
  const namespace = basename(folder).toLowerCase().replaceAll('_', 'x')
  const scene: Scene = { ...stage, folder, namespace, words: new Map([['$NS', namespace]]) }
  await writeFile(join(folder, contextFile), await contextOf(scene))
  for (const [name, text] of Object.entries(session.files ?? {}))
    await writeFile(join(folder, name), filled(text, scene))
  await playStep({ run: 'create namespace $NS', expect: { out: 'namespace/$NS created' } }, scene)
  await playSteps(session.steps, scene)
  await rm(folder, { recursive: true, force: true })
}

/** kubectl merges its kubeconfigs: this one sets the namespace. A flag would warn about cluster-scoped objects. */
async function contextOf({ kubectl, kubeconfig, home, namespace }: Scene): Promise<string> {
  const names = 'jsonpath={.contexts[0].context.cluster} {.contexts[0].context.user}'
  // Not in one blocking call: some kubectls first request the version of the server, which may run in this process.
  const { ended } = startProgram(
    [kubectl.path, 'config', 'view', '--minify', '--kubeconfig', kubeconfig, '-o', names],
    { stdin: '', env: { PATH: process.env['PATH'], HOME: home } },
  )
  const [cluster, user] = (await ended).out.split(' ')
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'session',
    contexts: [{ name: 'session', context: { cluster, user, namespace } }],
  })
}

async function playSteps(steps: readonly Step[], scene: Scene): Promise<void> {
  for (const step of steps) await playStep(step, scene)
}

async function playStep(step: Step, scene: Scene): Promise<void> {
  if (!isFor(step, scene)) return
  const outcome = await runStep(step, scene)
  judge(step, { outcome, scene })
  if (step.keep !== undefined) scene.words.set(step.keep, outcome.out)
}

function isFor({ since = '0.0', until }: Step, { kubectl: { version } }: Scene): boolean {
  return isAtLeast(version, since) && (until === undefined || !isAtLeast(version, until))
}

async function runStep({ run, stdin = '', editor, during }: Step, scene: Scene): Promise<Outcome> {
  const program = startProgram([scene.kubectl.path, ...splitArguments(filled(run, scene))], {
    stdin: filled(stdin, scene),
    cwd: scene.folder,
    env: {
      PATH: process.env['PATH'],
      HOME: scene.home,
      TMPDIR: scene.folder,
      KUBECONFIG: [join(scene.folder, contextFile), scene.kubeconfig].join(delimiter),
      ...(editor !== undefined && { KUBE_EDITOR: filled(editor, scene) }),
    },
  })
  if (during) await playDuring(during, { program, scene })
  return program.ended
}

async function playDuring(
  { ready, steps, enough }: During,
  { program, scene }: { program: Program; scene: Scene },
): Promise<void> {
  try {
    await program.until(ready)
    await playSteps(steps, scene)
    if (enough) await program.until(enough)
  } catch (error) {
    program.stop('SIGKILL')
    throw error
  }
  if (enough) program.stop('SIGINT')
}

function judge(step: Step, { outcome, scene }: { outcome: Outcome; scene: Scene }): void {
  const { code: given, out, err } = step.expect ?? {}
  // The exit code of an interrupted program does not matter, and with `-v=6` it logs while it runs.
  const code = given ?? (step.during?.enough ? outcome.code : 0)
  const complaint = err ?? (code === 0 && !step.during ? '' : undefined)
  const wrong = [
    ...(outcome.code === code ? [] : [`exit code ${outcome.code} instead of ${code}`]),
    ...differences('output', { actual: outcome.out, expected: out, scene }),
    ...differences('complaint', { actual: outcome.err, expected: complaint, scene }),
  ]
  if (wrong.length === 0) return
  throw new Error(`kubectl ${step.run}\n${wrong.join('\n')}\n--- output\n${outcome.out}--- complaint\n${outcome.err}`)
}

function differences(
  what: string,
  { actual, expected, scene }: { actual: string; expected: Text | undefined; scene: Scene },
): string[] {
  if (expected === undefined) return []
  const wanted = fill(expected, scene.namespace)
  return matches(actual, wanted) ? [] : [`expected ${what}:\n${String(wanted)}`]
}

function filled(text: string, { words }: Scene): string {
  return [...words].reduce((whole, [word, value]) => whole.replaceAll(word, () => value), text)
}
