/**
 * Words for the command of a container runtime, as the parts of a plan that mean the same.
 *
 *   runArgs: ['--add-host=db:10.0.0.5', '-e', 'A=b']     extraHosts: ['db:10.0.0.5'], env: { A: 'b' }
 *
 * No command is run here: containers are made through an API. A word that has no part in a plan is a mistake that is said.
 */
import type { ContainerPlan } from '@evenkeel/workloads'
import { SpecError } from '../controllers/service-producers.ts'

type Part = Partial<Omit<ContainerPlan, 'name' | 'image' | 'command' | 'args'>>
/** Adds the value of an option to a plan. */
type Option = (plan: Part, value: string) => Part

const env: Option = (plan, value) => ({ ...plan, env: { ...plan.env, ...pairOf(value) } })
const label: Option = (plan, value) => ({ ...plan, labels: { ...plan.labels, ...pairOf(value) } })
const user: Option = (plan, value) => ({ ...plan, user: value })
const memory: Option = (plan, value) => ({ ...plan, memoryBytes: bytesOf(value) })
const workingDir: Option = (plan, value) => ({ ...plan, workingDir: value })

const options: ReadonlyMap<string, Option> = new Map([
  ['--add-host', (plan: Part, value: string) => ({ ...plan, extraHosts: [...(plan.extraHosts ?? []), value] })],
  ['--cpus', (plan: Part, value: string) => ({ ...plan, nanoCpus: Math.round(Number(value) * 1e9) })],
  ['--stop-signal', (plan: Part, value: string) => ({ ...plan, stopSignal: value })],
  ...(['--env', '-e'] as const).map((name) => [name, env] as const),
  ...(['--label', '-l'] as const).map((name) => [name, label] as const),
  ...(['--user', '-u'] as const).map((name) => [name, user] as const),
  ...(['--memory', '-m'] as const).map((name) => [name, memory] as const),
  ...(['--workdir', '-w'] as const).map((name) => [name, workingDir] as const),
])

/** @throws {SpecError} for a word that has no part in a plan */
export function partOfArguments(words: readonly string[]): Part {
  let part: Part = {}
  for (let at = 0; at < words.length; at++) {
    const [name = '', inline] = splitOnce(words[at] ?? '')
    const option = options.get(name)
    const value = inline ?? words[++at]
    if (!option || value === undefined)
      throw new SpecError(
        `spec.runArgs has ${JSON.stringify(name)}, which is not supported: use ${[...options.keys()].join(', ')}`,
      )
    part = option(part, value)
  }
  return part
}

function pairOf(text: string): Readonly<Record<string, string>> {
  const [name, value = ''] = splitOnce(text)
  return { [name]: value }
}

function splitOnce(text: string): readonly [before: string, after?: string] {
  const at = text.indexOf('=')
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)]
}

const units: Readonly<Record<string, number>> = { b: 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 }

/** `64m` is 67108864. */
function bytesOf(text: string): number {
  const [, number = '', unit = 'b'] = /^(\d+)([bkmg])?$/i.exec(text) ?? []
  if (number === '') throw new SpecError(`spec.runArgs has the memory ${JSON.stringify(text)}: write it as 512m or 2g`)
  return Number(number) * (units[unit.toLowerCase()] ?? 1)
}
