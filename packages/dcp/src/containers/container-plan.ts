/**
 * What to create for a Container: its plan for the runtime, and the key by which a persistent one is known again.
 *
 * Variables, later ones win: those of its image, `envFiles` in their order, `env` with its templates. Nothing is inherited.
 * Names: `spec.containerName`, else the name of the object and eight digits of its uid.
 *
 * Invariant: the key depends on what the container is made from and on nothing else, so that an unchanged spec finds it.
 */
import { createHash } from 'node:crypto'
import { isAbsolute, relative, resolve } from 'node:path'
import {
  EnvironmentError,
  readEnvFile,
  type BuildPlan,
  type ContainerPlan,
  type Files,
  type Labels,
  type PublishedPort,
} from '@evenkeel/workloads'
import type { KubeObject, ObjectOf, Stored } from 'evenkeel'
import { producersOf, SpecError, type ServiceProducer } from '../controllers/service-producers.ts'
import { valueRenderer } from '../controllers/value-templates.ts'
import type { Container } from '../kinds/container.ts'
import { isSet, itemsOf, numberOf, recordsOf, textOf, valuesOf, type Values } from '../rules/field-values.ts'
import { partOfArguments } from './run-arguments.ts'

export type ContainerObject = Stored<ObjectOf<typeof Container>>

/** In the labels of a container that was made here: what it was made from. */
export const lifecycleLabel = 'dcp.evenkeel.dev/lifecycle-key'

export interface PlannedContainer {
  readonly plan: ContainerPlan
  readonly build?: BuildPlan
  readonly lifecycleKey: string
}

interface PlanSources {
  readonly files: Pick<Files, 'findText'>
  /** Where relative paths begin. */
  readonly cwd: string
  readonly findService: (name: string) => KubeObject | undefined
  /** The name in the runtime of each network, and what the container is called in it. */
  readonly networks: ContainerPlan['networks']
  /** Names of this machine that a container does not know by itself. */
  readonly extraHosts: readonly string[]
  /** A port of this machine for each that the spec leaves open, in the order of `spec.ports`. */
  readonly choosePorts: (names: readonly string[]) => Promise<readonly { readonly port: number }[]>
  readonly labels: Labels
  /** Something that people should know, and that does not stop the start. */
  readonly onProblem: (message: string) => void
}

/** @throws {ServiceNotReady} when it is possible later; {SpecError} when it never is */
export async function planContainer(object: ContainerObject, sources: PlanSources): Promise<PlannedContainer> {
  const spec = (object.spec ?? {}) as Values
  const { networks, labels } = sources
  const render = rendererOf(object, sources)
  const part = partOfArguments(itemsOf(spec, 'runArgs').map(String))
  const command = textOf(spec, 'command')
  const args = itemsOf(spec, 'args').map((arg) => render(String(arg)))
  const env = { ...(await variablesOf(spec, { ...sources, render })), ...part.env }
  const lifecycleKey = lifecycleKeyOf(spec, { env, args, mounts: mountsOf(spec, sources.cwd) })
  const build = buildOf(object, sources)
  const plan: ContainerPlan = {
    ...part,
    name: containerNameOf(object),
    image: imageOf(object),
    ...(command !== '' && { command: [command] }),
    ...(args.length > 0 && { args }),
    ...{ env, networks },
    labels: { ...labelsIn(spec), ...part.labels, ...labels, [lifecycleLabel]: lifecycleKey },
    ports: await portsOf(spec, sources),
    mounts: mountsOf(spec, sources.cwd),
    extraHosts: [...sources.extraHosts, ...(part.extraHosts ?? [])],
    restartPolicy: (textOf(spec, 'restartPolicy') || 'no') as NonNullable<ContainerPlan['restartPolicy']>,
  }
  return { plan, lifecycleKey, ...(build && { build }) }
}

/** What a Container may ask for and does not get here; undefined when it may be started. */
export function unsupportedIn(spec: Values): string | undefined {
  const build = valuesOf(spec, 'build')
  if (valuesOf(spec, 'terminal')) return 'terminals are not supported: leave out spec.terminal'
  if (itemsOf(spec, 'imageLayers').length > 0)
    return 'imageLayers are not supported: build an image that has them, with spec.build'
  if (itemsOf(spec, 'createFiles').length > 0)
    return 'createFiles are not supported: mount a folder with spec.volumeMounts'
  const certificates = valuesOf(spec, 'pemCertificates')
  if (certificates && !isSet(certificates, 'continueOnError'))
    return 'pemCertificates are not supported: mount them with spec.volumeMounts, or set continueOnError'
  if (itemsOf(build, 'secrets').length > 0) return 'secrets of a build are not supported: use spec.build.args'
  if (textOf(build, 'platform') !== '') return 'the platform of a build is not supported: leave out spec.build.platform'
  return undefined
}

/** The name by which it is known in the runtime. */
function containerNameOf({ metadata: { name, uid }, spec }: ContainerObject): string {
  return spec?.containerName || `${name.replaceAll(/[^\w.-]/g, '-')}-${uid.slice(0, 8)}`
}

function imageOf({ metadata: { name }, spec }: ContainerObject): string {
  const [tag] = itemsOf(valuesOf(spec as Values, 'build'), 'tags')
  return spec?.image || (tag === undefined ? `dcp.evenkeel.local/${name.toLowerCase()}:latest` : String(tag))
}

/** Inside of a container a Service that it serves has the port of the container. */
function rendererOf(object: ContainerObject, { findService, onProblem }: PlanSources): (text: string) => string {
  const ports = recordsOf((object.spec ?? {}) as Values, 'ports')
  const producers = producersOf(object).map((producer) => ({
    ...producer,
    port: numberOf(portOf(producer, ports), 'containerPort') ?? 0,
  }))
  return valueRenderer({ object, producers, chosenPorts: new Map(), findService }, onProblem)
}

/** The published port that a producer means: the one of this machine first. */
function portOf<P extends object>({ port }: ServiceProducer, ports: readonly P[]): P | undefined {
  const by = (name: string): P | undefined => ports.find((one) => (one as Values)[name] === port)
  return port === 0 ? undefined : (by('hostPort') ?? by('containerPort'))
}

/** Where the Services of a container are served on this machine. */
export function servedBy(object: KubeObject, published: readonly PublishedPort[]): readonly ServiceProducer[] {
  return producersOf(object).flatMap((producer) => {
    const found = portOf(producer, published)
    if (!found) throw new SpecError(`the Service ${producer.service} needs the port ${producer.port} in spec.ports`)
    return { service: producer.service, address: found.hostIP || '0.0.0.0', port: found.hostPort }
  })
}

/** The variables of a spec. @throws {SpecError} for a file that cannot be read */
export async function variablesOf(
  spec: Values,
  { files, cwd, render }: Pick<PlanSources, 'files' | 'cwd'> & { readonly render: (text: string) => string },
): Promise<Readonly<Record<string, string>>> {
  const variables = new Map<string, string>()
  for (const path of itemsOf(spec, 'envFiles'))
    try {
      for (const { name, value } of await readEnvFile({ path: String(path) }, { cwd, files }))
        variables.set(name, value)
    } catch (error) {
      if (!(error instanceof EnvironmentError)) throw error
      throw new SpecError(error.message)
    }
  for (const variable of recordsOf(spec, 'env'))
    variables.set(textOf(variable, 'name'), render(textOf(variable, 'value')))
  return Object.fromEntries(variables)
}

function labelsIn(values: Values): Labels {
  return Object.fromEntries(recordsOf(values, 'labels').map((label) => [textOf(label, 'key'), textOf(label, 'value')]))
}

async function portsOf(spec: Values, { choosePorts }: PlanSources): Promise<readonly PublishedPort[]> {
  const ports = recordsOf(spec, 'ports')
  const nameOf = (port: Values): string => `${numberOf(port, 'containerPort')}/${textOf(port, 'protocol')}`
  const open = ports.filter((port) => !numberOf(port, 'hostPort'))
  const chosen = open.length === 0 ? [] : await choosePorts(open.map(nameOf))
  return ports.map((port) => ({
    containerPort: numberOf(port, 'containerPort') ?? 0,
    hostPort: numberOf(port, 'hostPort') || (chosen[open.indexOf(port)]?.port ?? 0),
    hostIP: textOf(port, 'hostIP') || '127.0.0.1',
    protocol: textOf(port, 'protocol').toUpperCase() === 'UDP' ? 'udp' : 'tcp',
  }))
}

function mountsOf(spec: Values, cwd: string): ContainerPlan['mounts'] {
  return recordsOf(spec, 'volumeMounts').map((mount) => {
    const type = textOf(mount, 'type') === 'bind' ? 'bind' : 'volume'
    const source = textOf(mount, 'source')
    return {
      type,
      source: type === 'bind' ? resolve(cwd, source) : source,
      target: textOf(mount, 'target'),
      readOnly: isSet(mount, 'readOnly'),
    }
  })
}

/** @throws {SpecError} for a Dockerfile outside of the folder that is built */
function buildOf(object: ContainerObject, { cwd, onProblem }: PlanSources): BuildPlan | undefined {
  const build = valuesOf((object.spec ?? {}) as Values, 'build')
  if (!build) return undefined
  const context = resolve(cwd, textOf(build, 'context'))
  const dockerfile = relative(context, resolve(context, textOf(build, 'dockerfile') || 'Dockerfile'))
  if (dockerfile.startsWith('..') || isAbsolute(dockerfile))
    throw new SpecError(`the file ${dockerfile} has to be below spec.build.context: move it there`)
  if (itemsOf(build, 'tags').length > 1) onProblem(`its image gets one tag only: ${imageOf(object)}`)
  const stage = textOf(build, 'stage')
  return {
    ...{ context, dockerfile },
    args: recordsOf(build, 'args').map((arg) => ({ name: textOf(arg, 'name'), value: textOf(arg, 'value') })),
    ...(stage !== '' && { target: stage }),
    labels: labelsIn(build),
    tag: imageOf(object),
  }
}

/** The key of the spec, or a digest of what it decides. */
function lifecycleKeyOf(spec: Values, effective: object): string {
  const given = textOf(spec, 'lifecycleKey')
  if (given !== '') return given
  const { image, build, command, ports, restartPolicy, runArgs, labels, networks } = spec
  const parts = { image, build, command, ports, restartPolicy, runArgs, labels, networks, ...effective }
  return createHash('sha256')
    .update(JSON.stringify(sorted(parts)))
    .digest('hex')
}

/** Fields in the order of their names; what is absent or null is left out. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value).filter(([, field]) => field !== undefined && field !== null)
  return Object.fromEntries(fields.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, field]) => [name, sorted(field)]))
}
