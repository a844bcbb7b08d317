/** The Engine API's JSON for containers and networks, to and from plain data of the seam. */
import { parseTime } from 'evenkeel/unstable/api'
import type {
  ContainerFacts,
  ContainerPlan,
  ContainerState,
  ContainerSummary,
  Labels,
  NetworkFacts,
  PublishedPort,
} from './container-runtime.ts'

export interface EngineContainer {
  readonly Id: string
  readonly Name: string
  readonly Image?: string
  readonly State?: {
    readonly Status?: string
    readonly ExitCode?: number
    readonly OOMKilled?: boolean
    readonly StartedAt?: string
    readonly FinishedAt?: string
  }
  readonly Args?: readonly string[] | null
  readonly HostConfig?: { readonly PortBindings?: EnginePorts | null }
  readonly Config?: {
    readonly Labels?: Labels | null
    readonly Image?: string
    readonly Tty?: boolean
    readonly Env?: readonly string[] | null
  }
  readonly NetworkSettings?: {
    readonly Ports?: EnginePorts | null
    readonly Networks?: Readonly<Record<string, { readonly IPAddress?: string } | null>> | null
  }
}

/** By port and protocol, `80/tcp`: where it is published. */
type EnginePorts = Readonly<Record<string, readonly { readonly HostIp?: string; readonly HostPort?: string }[] | null>>

export interface EngineContainerRow {
  readonly Id: string
  readonly Names?: readonly string[]
  readonly State?: string
  readonly Labels?: Labels | null
}

export interface EngineNetwork {
  readonly Id: string
  readonly Name: string
  readonly Driver?: string
  readonly Labels?: Labels | null
  readonly IPAM?: { readonly Config?: readonly { readonly Subnet?: string; readonly Gateway?: string }[] | null } | null
}

/** What runtimes call the states of a container. */
const states: Readonly<Record<string, ContainerState>> = {
  created: 'created',
  configured: 'created',
  initialized: 'created',
  running: 'running',
  restarting: 'running',
  stopping: 'running',
  paused: 'paused',
  removing: 'removing',
  exited: 'exited',
  stopped: 'exited',
  dead: 'exited',
}

function stateOf(word: string | undefined): ContainerState {
  return states[(word ?? '').toLowerCase()] ?? 'exited'
}

export function summaryOf({ Id, Names = [], State, Labels: labels }: EngineContainerRow): ContainerSummary {
  return { id: Id, name: withoutSlash(Names[0] ?? ''), state: stateOf(State), labels: labels ?? {} }
}

export function factsOfContainer(found: EngineContainer): ContainerFacts {
  const { Id, Name, Image, State, Config, NetworkSettings } = found
  const state = stateOf(State?.Status)
  const startedAtMs = timeOf(State?.StartedAt)
  const finishedAtMs = timeOf(State?.FinishedAt)
  const hasEnded = state === 'exited' || state === 'removing'
  return {
    id: Id,
    name: withoutSlash(Name),
    state,
    labels: Config?.Labels ?? {},
    image: Image ?? Config?.Image ?? '',
    ...(startedAtMs !== undefined && { startedAtMs }),
    ...(hasEnded && finishedAtMs !== undefined && { finishedAtMs }),
    ...(hasEnded && State?.ExitCode !== undefined && { exitCode: State.ExitCode }),
    isOomKilled: State?.OOMKilled ?? false,
    env: Object.fromEntries((Config?.Env ?? []).map(splitVariable)),
    args: found.Args ?? [],
    ports: portsOf(found),
    networks: Object.entries(NetworkSettings?.Networks ?? {}).map(([name, settings]) => ({
      name,
      address: settings?.IPAddress ?? '',
    })),
  }
}

/** What is published now; of a container that does not run, what it was created with. */
function portsOf({ NetworkSettings, HostConfig }: EngineContainer): readonly PublishedPort[] {
  const published = publishedIn(NetworkSettings?.Ports)
  return published.length > 0 ? published : publishedIn(HostConfig?.PortBindings)
}

function publishedIn(ports: EnginePorts | null | undefined): readonly PublishedPort[] {
  return Object.entries(ports ?? {}).flatMap(([key, bindings]) => {
    const [port, protocol] = key.split('/')
    return (bindings ?? []).map(({ HostIp = '', HostPort = '0' }) => ({
      containerPort: Number(port),
      hostPort: Number(HostPort),
      hostIP: HostIp,
      protocol: protocol === 'udp' ? ('udp' as const) : ('tcp' as const),
    }))
  })
}

function splitVariable(text: string): readonly [name: string, value: string] {
  const at = text.indexOf('=')
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
}

export function factsOfNetwork({ Id, Name, Driver = 'bridge', Labels: labels, IPAM }: EngineNetwork): NetworkFacts {
  const ranges = IPAM?.Config ?? []
  return {
    id: Id,
    name: Name,
    driver: Driver,
    labels: labels ?? {},
    subnets: ranges.flatMap(({ Subnet }) => Subnet ?? []),
    gateways: ranges.flatMap(({ Gateway }) => Gateway ?? []),
  }
}

/** The body of a create. */
export function containerBody({ command, args, env, ports, mounts, networks, ...plan }: ContainerPlan): object {
  const keyOf = ({ containerPort, protocol }: ContainerPlan['ports'][number]): string => `${containerPort}/${protocol}`
  const [first] = networks
  const isOwnNetwork = first !== undefined && !['host', 'none', 'bridge'].includes(first.name)
  return {
    Image: plan.image,
    ...(command && { Entrypoint: command }),
    ...(args && { Cmd: args }),
    Env: Object.entries(env).map(([name, value]) => `${name}=${value}`),
    Labels: plan.labels,
    ...(plan.stopSignal !== undefined && { StopSignal: plan.stopSignal }),
    ...(plan.user !== undefined && { User: plan.user }),
    ...(plan.workingDir !== undefined && { WorkingDir: plan.workingDir }),
    ExposedPorts: Object.fromEntries(ports.map((port) => [keyOf(port), {}])),
    HostConfig: {
      PortBindings: Object.fromEntries(
        ports.map((port) => [keyOf(port), [{ HostIp: port.hostIP, HostPort: String(port.hostPort) }]]),
      ),
      Mounts: mounts.map(({ type, source, target, readOnly }) => ({
        Type: type,
        Source: source,
        Target: target,
        ReadOnly: readOnly,
      })),
      RestartPolicy: { Name: plan.restartPolicy ?? 'no' },
      ...(plan.memoryBytes !== undefined && { Memory: plan.memoryBytes }),
      ...(plan.nanoCpus !== undefined && { NanoCpus: plan.nanoCpus }),
      ...(plan.extraHosts.length > 0 && { ExtraHosts: plan.extraHosts }),
      ...(first && { NetworkMode: first.name }),
    },
    ...(isOwnNetwork && { NetworkingConfig: { EndpointsConfig: { [first.name]: { Aliases: first.aliases } } } }),
  }
}

/** Undefined for the time of something that has not happened. */
function timeOf(text: string | undefined): number | undefined {
  return text === undefined || text.startsWith('0001-') ? undefined : parseTime(text)
}

function withoutSlash(name: string): string {
  return name.replace(/^\//, '')
}
