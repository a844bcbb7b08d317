/**
 * What to create for a Container: from its spec, its networks and volumes, and its ports.
 *
 * Names: `spec.containerName`, else `NAMESPACE-NAME-` and eight digits of the uid, so that two copies of an application do not
 * collide. In its networks a container is also reached by the name of its object.
 *
 * Variables, later ones win: `EVENKEEL_HOST` (the name by which a container reaches this machine), `envFiles` in their order, `env`.
 * Nothing is inherited from Evenkeel.
 */
import { createHash } from 'node:crypto'
import { resolve } from 'node:path'
import { makeEnvironment } from '../environment.ts'
import type { Files } from '../files.ts'
import { fingerprintOf } from '../lifecycle.ts'
import type { NamedPort } from '../ports.ts'
import type { EnvValues } from '../env-references.ts'
import { readEnvFile, variablesOf, withValues } from '../process-plan.ts'
import type { Run } from '../runs.ts'
import type { ContainerObject } from './container-kind.ts'
import type { BuildPlan, ContainerPlan, Labels, RuntimeVersion } from './container-runtime.ts'

interface PlanOptions {
  readonly files: Pick<Files, 'findText'>
  /** Where relative paths begin. */
  readonly cwd: string
  readonly ports: readonly NamedPort[]
  readonly runtime: RuntimeVersion['name']
  /** By the name of a ContainerNetwork or a ContainerVolume: its name in the runtime. */
  readonly networks: ReadonlyMap<string, string>
  readonly volumes: ReadonlyMap<string, string>
  readonly labels: Labels
  /** Of variables with `valueFrom`, by their index. One that is not known is not set. */
  readonly values: ReadonlyMap<number, string>
}

/** By which name a container reaches this machine. Docker wants to be told; Podman has the name by itself. */
const hosts: Readonly<
  Record<RuntimeVersion['name'], { readonly name: string; readonly extraHosts: readonly string[] }>
> = {
  docker: { name: 'host.docker.internal', extraHosts: ['host.docker.internal:host-gateway'] },
  podman: { name: 'host.containers.internal', extraHosts: [] },
  simulated: { name: 'host.simulated.internal', extraHosts: [] },
}

/** By which name a container reaches this machine. */
export function machineNameFor(runtime: RuntimeVersion['name']): string {
  return hosts[runtime].name
}

function containerNameOf({ metadata, spec }: ContainerObject): string {
  return spec.containerName ?? defaultName(metadata)
}

/** A name for something in the runtime: the uid keeps copies of an application apart. */
export function defaultName({
  namespace = 'default',
  name,
  uid,
}: Pick<ContainerObject['metadata'], 'namespace' | 'name' | 'uid'>): string {
  return `${namespace}-${name}-${uid.slice(0, 8)}`
}

/** The image that a Container runs: what it names, or the tag of what is built. */
export function imageOf({ metadata, spec }: ContainerObject): string {
  return spec.image ?? `evenkeel.local/${metadata.namespace ?? 'default'}/${metadata.name}:latest`
}

/** @throws {EnvironmentError} for an environment that no process can have, or a file that is missing */
export async function planOfContainer(
  object: ContainerObject,
  options: PlanOptions,
): Promise<{ readonly plan: ContainerPlan; readonly duplicates: readonly string[] }> {
  const { spec, metadata } = object
  const { cwd, runtime, networks, volumes } = options
  const files = await Promise.all((spec.envFiles ?? []).map((file) => readEnvFile(file, options)))
  const { env, duplicates } = makeEnvironment({ EVENKEEL_HOST: hosts[runtime].name }, [
    ...files,
    variablesOf(spec.env, options.values),
  ])
  const plan: ContainerPlan = {
    name: containerNameOf(object),
    image: imageOf(object),
    ...(spec.command && { command: spec.command }),
    ...(spec.args && { args: spec.args }),
    env,
    labels: { ...spec.labels, ...options.labels },
    ports: (spec.ports ?? []).map(({ name, containerPort, hostIP = '127.0.0.1', protocol = 'TCP' }) => ({
      containerPort,
      hostIP,
      protocol: protocol === 'UDP' ? 'udp' : 'tcp',
      hostPort: options.ports.find((port) => port.name === name)?.port ?? 0,
    })),
    mounts: (spec.volumeMounts ?? []).map(({ volume, bind = '', target, readOnly = false }) => ({
      type: volume === undefined ? 'bind' : 'volume',
      source: volume === undefined ? resolve(cwd, bind) : (volumes.get(volume) ?? volume),
      target,
      readOnly,
    })),
    networks: (spec.networks ?? []).map(({ name, aliases = [] }) => ({
      name: networks.get(name) ?? name,
      aliases: [...new Set([metadata.name, ...aliases])],
    })),
    ...(spec.user !== undefined && { user: spec.user }),
    ...(spec.workingDir !== undefined && { workingDir: spec.workingDir }),
    ...(spec.limits?.memory !== undefined && { memoryBytes: Math.floor(parseQuantity(spec.limits.memory)) }),
    ...(spec.limits?.cpu !== undefined && { nanoCpus: Math.round(parseQuantity(spec.limits.cpu) * 1e9) }),
    stopSignal: spec.stop?.signal ?? 'SIGTERM',
    extraHosts: hosts[runtime].extraHosts,
  }
  return { plan, duplicates }
}

/** What to build; undefined when nothing is. */
export function buildOf(object: ContainerObject, { cwd }: Pick<PlanOptions, 'cwd'>): BuildPlan | undefined {
  const { build } = object.spec
  if (!build) return undefined
  const { context, dockerfile = 'Dockerfile', args = [], target, labels = {} } = build
  return {
    context: resolve(cwd, context),
    dockerfile,
    args: args.map(({ name, value = '' }) => ({ name, value })),
    ...(target !== undefined && { target }),
    labels,
    tag: imageOf(object),
  }
}

/** What a run is started from, part by part, as digests: a change of one of these makes another container. */
export function fingerprintOfContainer(
  { spec }: ContainerObject,
  values: EnvValues,
  run: Pick<Run, 'fingerprint'> | undefined,
): string {
  const { image, build, containerName, command, args, env, envFiles, ports, volumeMounts, networks } = spec
  const { user, workingDir, labels, limits, lifetime } = spec
  const parts = {
    ...{ image, build, containerName, command, args, env, envFiles, ports, volumeMounts, networks },
    ...{ user, workingDir, labels, limits, lifetime },
  }
  const own = fingerprintOf(parts, (text) => createHash('sha256').update(text).digest('hex').slice(0, 12))
  return withValues(own, values, run)
}

const units: Readonly<Record<string, number>> = {
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
}

/** `64Mi` is 67108864, `500m` is 0.5. The schema has checked the text. */
function parseQuantity(text: string): number {
  const [, number = '0', unit = ''] = /^([0-9.]+)(.*)$/.exec(text) ?? []
  return Number(number) * (units[unit] ?? 1)
}
