/**
 * What an Executable is started with: its variables and arguments, and the ports that are chosen for it.
 *
 * Variables, later ones win: the environment of dcp unless the spec says otherwise, `envFiles` in their order, `env`; then
 * templates are replaced, and what is for dcp itself is removed (`DCP_…`, `DEBUG_SESSION…`).
 */
import { readEnvFile, type Files } from '@evenkeel/workloads'
import type { KubeObject } from 'evenkeel'
import { itemsOf, recordsOf, textOf, valuesOf, type Values } from '../rules/field-values.ts'
import { producersOf } from './service-producers.ts'
import { valueRenderer, ServiceNotReady } from './value-templates.ts'

export interface LaunchPlan {
  readonly env: readonly EnvVar[]
  readonly args: readonly string[]
  /** The ports that were chosen: the name is that of the Service. */
  readonly ports: readonly { readonly name: string; readonly port: number }[]
}

interface EnvVar {
  readonly name: string
  readonly value: string
}

interface PlanSources {
  readonly files: Pick<Files, 'findText'>
  /** A port for each name, the same ones when they are asked for again. */
  readonly choosePorts: (names: readonly string[]) => Promise<LaunchPlan['ports']>
  /** What programs inherit. */
  readonly ambient: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  readonly findService: (name: string) => KubeObject | undefined
  /** Something that people should know, and that does not stop the start. */
  readonly onProblem: (message: string) => void
}

/** @throws {ServiceNotReady} when it is possible later; {SpecError} when it never is */
export async function planLaunch(object: KubeObject, sources: PlanSources): Promise<LaunchPlan> {
  const { onProblem, findService } = sources
  const spec = valuesOf(object as object as Values, 'spec') ?? {}
  const ports = await choosePorts(object, { spec, sources })
  const render = valueRenderer(
    {
      object,
      producers: producersOf(object),
      chosenPorts: new Map(ports.map(({ name, port }) => [name, port])),
      findService,
    },
    onProblem,
  )
  const env = [...(await variablesOf(spec, sources))]
    .filter(([name]) => !/^(?:DEBUG_SESSION|DCP_|EVENKEEL_RUN$)/.test(name))
    .map(([name, value]) => ({ name, value: render(value) }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
  const args = itemsOf(spec, 'args').map((arg) => render(String(arg)))
  return { env, args, ports }
}

async function variablesOf(
  spec: Values,
  { ambient, files, cwd, onProblem }: PlanSources,
): Promise<Map<string, string>> {
  const variables = new Map<string, string>()
  if (textOf(valuesOf(spec, 'ambientEnvironment'), 'behavior') !== 'DoNotInherit')
    for (const [name, value] of Object.entries(ambient)) if (value !== undefined) variables.set(name, value)
  for (const path of itemsOf(spec, 'envFiles'))
    try {
      for (const { name, value } of await readEnvFile({ path: String(path) }, { cwd, files }))
        variables.set(name, value)
    } catch (error) {
      if (!(error instanceof Error && error.name === 'EnvironmentError')) throw error
      onProblem(error.message)
    }
  for (const variable of recordsOf(spec, 'env')) variables.set(textOf(variable, 'name'), textOf(variable, 'value'))
  return variables
}

/** A port for each Service that the program serves and names none for, if it can be given to the program at all. */
async function choosePorts(
  object: KubeObject,
  { spec, sources }: { readonly spec: Values; readonly sources: PlanSources },
): Promise<LaunchPlan['ports']> {
  const texts = [...recordsOf(spec, 'env').map((one) => textOf(one, 'value')), ...itemsOf(spec, 'args').map(String)]
  const wanted = texts.some((text) => text.includes('portForServing'))
    ? producersOf(object).filter(({ port }) => port === 0)
    : []
  if (wanted.length === 0) return []
  const missing = wanted.find(({ service }) => !sources.findService(service))
  if (missing) throw new ServiceNotReady(missing.service, 'does not exist')
  return sources.choosePorts(wanted.map(({ service }) => service))
}
