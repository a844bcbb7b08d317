/**
 * A container runtime by its executable, `docker` or `podman`: where there is no socket. One process per call, with JSON where
 * the executable can write it.
 *
 * Values of variables are not arguments, because everyone on the machine can read those: `--env NAME` takes the value from the
 * environment of the executable. Only a variable that would change the executable itself (`PATH`, `DOCKER_HOST` …) is an argument.
 *
 * Invariant: the same plans and facts as the Engine API; a line that an executable logs beside its answer is not an error.
 */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import {
  connectedWords,
  disconnectedWords,
  ignoring,
  pullFailure,
  RuntimeError,
  startFailure,
  type BuildPlan,
  type ContainerFacts,
  type ContainerPlan,
  type ContainerRuntime,
  type ContainerStreams,
  type ContainerSummary,
  type ImageFacts,
  type Labels,
  type NetworkFacts,
  type NetworkPlan,
  type PullOptions,
  type RuntimeErrorCode,
  type RuntimeVersion,
  type VolumeFacts,
  type VolumePlan,
} from './container-runtime.ts'
import { CliStreams, isPodman, type CliOptions } from './cli-streams.ts'
import { factsOfContainer, factsOfNetwork, type EngineContainer, type EngineNetwork } from './engine-messages.ts'

interface CliVersion {
  readonly Client?: { readonly Version?: string; readonly APIVersion?: string; readonly ApiVersion?: string }
  readonly Server?: { readonly Version?: string; readonly ApiVersion?: string } | null
}

/** Podman's own shape of a network. */
interface PodmanNetwork {
  readonly id?: string
  readonly name?: string
  readonly driver?: string
  readonly labels?: Labels | null
  readonly subnets?: readonly { readonly subnet?: string; readonly gateway?: string }[] | null
}

const json = ['--format', '{{json .}}'] as const
const buildLines = 15
const outputMax = 4_194_304

export class CliRuntime implements ContainerRuntime {
  readonly streams: ContainerStreams
  readonly #options: CliOptions

  constructor(options: CliOptions) {
    this.#options = options
    this.streams = new CliStreams(options)
  }

  async findVersion(): Promise<RuntimeVersion> {
    const { Client, Server } = parse<CliVersion>(await this.#run(['version', ...json], unavailable))
    const name = isPodman(this.#options.executable) ? 'podman' : 'docker'
    if (name === 'docker' && !Server)
      throw new RuntimeError('Unavailable', 'docker: its daemon does not answer. Start it')
    return {
      name,
      version: Server?.Version ?? Client?.Version ?? '',
      apiVersion: Server?.ApiVersion ?? Client?.APIVersion ?? '',
    }
  }

  async findImage(reference: string): Promise<ImageFacts | undefined> {
    const found = await this.#find<{ readonly Id: string; readonly RepoTags?: readonly string[] | null }>(
      'image',
      reference,
    )
    return found && { id: found.Id, tags: found.RepoTags ?? [] }
  }

  async pullImage(reference: string, { signal, onProgress }: PullOptions = {}): Promise<void> {
    onProgress?.(`pulling ${reference}`)
    await this.#run(['pull', '--quiet', reference], (message) => pullFailure(reference, message), { signal })
  }

  async buildImage({ context, dockerfile, args, target, labels, tag }: BuildPlan, { signal }: PullOptions = {}) {
    const command = [
      'build',
      ...['--file', join(context, dockerfile)],
      ...['--tag', tag],
      ...args.flatMap(({ name, value }) => ['--build-arg', `${name}=${value}`]),
      ...(target === undefined ? [] : ['--target', target]),
      ...labelArguments(labels),
      context,
    ]
    const failure = (message: string, output: string): RuntimeError =>
      new RuntimeError(
        'BuildFailed',
        `the build of ${tag} failed:\n${[...output.split('\n'), ...message.split('\n')].filter(Boolean).slice(-buildLines).join('\n')}`,
      )
    await this.#run(command, failure, { signal })
  }

  async createContainer(plan: ContainerPlan): Promise<{ readonly id: string }> {
    const output = await this.#run(['create', ...createArguments(plan, this.#options.env)], failureOf, {
      env: { ...plan.env, ...this.#options.env },
    })
    const id = output.trim().split('\n').at(-1) ?? ''
    try {
      for (const { name, aliases } of plan.networks.slice(1)) await this.#connect(name, id, aliases)
    } catch (error) {
      await this.removeContainer(id)
      throw error
    }
    return { id }
  }

  async startContainer(id: string): Promise<void> {
    await this.#run(['start', id], (message) => {
      const failure = failureOf(message)
      return failure.code === 'Failed' || failure.code === 'NotFound' ? startFailureOr(failure, message) : failure
    })
  }

  async stopContainer(id: string, { graceMs }: { readonly graceMs: number }): Promise<void> {
    await this.#run(['stop', '--time', String(Math.ceil(graceMs / 1000)), id])
  }

  async killContainer(id: string, signal: string): Promise<void> {
    await this.#run(['kill', '--signal', signal, id])
  }

  async unpauseContainer(id: string): Promise<void> {
    await this.#run(['unpause', id])
  }

  removeContainer(id: string): Promise<void> {
    // Podman would wait for its end as a stop does; Docker kills it.
    const now = isPodman(this.#options.executable) ? ['--time', '0'] : []
    return this.#remove(['rm', '--force', '--volumes', ...now, id])
  }

  async findContainer(nameOrId: string): Promise<ContainerFacts | undefined> {
    const found = await this.#find<EngineContainer>('container', nameOrId)
    return found && factsOfContainer(found)
  }

  async listContainers(labels: Labels): Promise<readonly ContainerSummary[]> {
    const ids = await this.#list(['ps', '--all', '--no-trunc'], labels, '{{.ID}}')
    return this.#each(ids, (id) => this.findContainer(id))
  }

  async createNetwork({ name, labels, internal, ipv6 }: NetworkPlan): Promise<void> {
    await this.#run([
      ...['network', 'create'],
      ...labelArguments(labels),
      ...(internal ? ['--internal'] : []),
      ...(ipv6 ? ['--ipv6'] : []),
      name,
    ])
  }

  async findNetwork(name: string): Promise<NetworkFacts | undefined> {
    const found = await this.#find<EngineNetwork & PodmanNetwork>('network', name)
    return found && networkOf(found)
  }

  async listNetworks(labels: Labels): Promise<readonly NetworkFacts[]> {
    const names = await this.#list(['network', 'ls'], labels, '{{.Name}}')
    return this.#each(names, (name) => this.findNetwork(name))
  }

  removeNetwork(name: string): Promise<void> {
    return this.#remove(['network', 'rm', name])
  }

  connectNetwork(name: string, container: string, aliases: readonly string[]): Promise<void> {
    return ignoring(this.#connect(name, container, aliases), connectedWords)
  }

  disconnectNetwork(name: string, container: string): Promise<void> {
    return ignoring(this.#run(['network', 'disconnect', '--force', name, container]), disconnectedWords)
  }

  #connect(name: string, container: string, aliases: readonly string[]): Promise<unknown> {
    return this.#run(['network', 'connect', ...aliases.flatMap((alias) => ['--alias', alias]), name, container])
  }

  async createVolume({ name, labels }: VolumePlan): Promise<void> {
    await this.#run(['volume', 'create', ...labelArguments(labels), name])
  }

  async findVolume(name: string): Promise<VolumeFacts | undefined> {
    const found = await this.#find<{
      readonly Name: string
      readonly Driver?: string
      readonly Labels?: Labels | null
    }>('volume', name)
    return found && { name: found.Name, driver: found.Driver ?? 'local', labels: found.Labels ?? {} }
  }

  async listVolumes(labels: Labels): Promise<readonly VolumeFacts[]> {
    const names = await this.#list(['volume', 'ls'], labels, '{{.Name}}')
    return this.#each(names, (name) => this.findVolume(name))
  }

  removeVolume(name: string): Promise<void> {
    return this.#remove(['volume', 'rm', name])
  }

  async #find<T>(type: string, name: string): Promise<T | undefined> {
    try {
      return parse<T>(await this.#run([type, 'inspect', ...json, name]))
    } catch (error) {
      if (error instanceof RuntimeError && /NotFound$/.test(error.code)) return undefined
      throw error
    }
  }

  async #list(command: readonly string[], labels: Labels, format: string): Promise<readonly string[]> {
    const filters = Object.entries(labels).flatMap(([name, value]) => ['--filter', `label=${name}=${value}`])
    const output = await this.#run([...command, ...filters, '--format', format])
    return output.split('\n').filter((line) => line !== '')
  }

  /** What vanished meanwhile is left out. */
  async #each<T>(names: readonly string[], find: (name: string) => Promise<T | undefined>): Promise<readonly T[]> {
    const found = await Promise.all(names.map(find))
    return found.flatMap((one) => (one === undefined ? [] : [one]))
  }

  async #remove(command: readonly string[]): Promise<void> {
    try {
      await this.#run(command)
    } catch (error) {
      if (!(error instanceof RuntimeError && error.code === 'NotFound')) throw error
    }
  }

  /** Its stdout. @throws what `failure` makes of its stderr */
  #run(
    command: readonly string[],
    failure: (message: string, output: string) => RuntimeError = failureOf,
    {
      env = this.#options.env,
      signal,
    }: { readonly env?: CliOptions['env']; readonly signal?: AbortSignal | undefined } = {},
  ): Promise<string> {
    const { executable } = this.#options
    return new Promise((resolve, reject) => {
      const child = spawn(executable, command, { env, stdio: ['ignore', 'pipe', 'pipe'], ...(signal && { signal }) })
      let [output, errors] = ['', '']
      child.stdout.setEncoding('utf8').on('data', (piece: string) => {
        output = (output + piece).slice(-outputMax)
      })
      child.stderr.setEncoding('utf8').on('data', (piece: string) => {
        errors = (errors + piece).slice(-outputMax)
      })
      child.once('error', (error) => {
        reject(new RuntimeError('Unavailable', `${executable}: ${error.message}. Install it`, { cause: error }))
      })
      child.once('close', (exitCode) => {
        if (exitCode === 0) resolve(output)
        else reject(failure(withoutLogLines(errors) || `${executable} ended with ${exitCode}`, output))
      })
    })
  }
}

function parse<T>(text: string): T {
  const value = JSON.parse(text) as T | readonly T[]
  return (Array.isArray(value) ? value[0] : value) as T
}

/** `time="…" level=warning msg="…"`: what an executable logs beside its answer. */
function withoutLogLines(text: string): string {
  return text
    .split('\n')
    .filter((line) => line !== '' && !/^time="[^"]*" level=(?:debug|info|warn)/.test(line))
    .join('\n')
}

const failures: readonly (readonly [RegExp, RuntimeErrorCode])[] = [
  [
    /cannot connect to (?:the )?(?:docker|podman)|is the docker daemon running|permission denied while trying to connect/i,
    'Unavailable',
  ],
  [
    /already in use|already exists|already used|in use by|is being used|has active endpoints|associated containers|is in use/i,
    'Conflict',
  ],
  [/no such image|image not known|unable to find image/i, 'ImageNotFound'],
  [/no such (?:container|object|network|volume)|network not found|not found|no container with name/i, 'NotFound'],
]

function failureOf(message: string): RuntimeError {
  return new RuntimeError(failures.find(([pattern]) => pattern.test(message))?.[1] ?? 'Failed', message)
}

function unavailable(message: string): RuntimeError {
  return new RuntimeError('Unavailable', message)
}

/** A program that is not found reads like a container that is not found. */
function startFailureOr(failure: RuntimeError, message: string): RuntimeError {
  const known = startFailure(message)
  return known.code === 'Failed' ? failure : known
}

function networkOf(found: EngineNetwork & PodmanNetwork): NetworkFacts {
  if (found.name === undefined) return factsOfNetwork(found)
  const { id = '', name, driver = 'bridge', labels, subnets } = found
  return {
    id,
    name,
    driver,
    labels: labels ?? {},
    subnets: (subnets ?? []).flatMap(({ subnet }) => subnet ?? []),
    gateways: (subnets ?? []).flatMap(({ gateway }) => gateway ?? []),
  }
}

function labelArguments(labels: Labels): readonly string[] {
  return Object.entries(labels).flatMap(([name, value]) => ['--label', `${name}=${value}`])
}

/** Variables that the executable itself reads. */
const ownVariables =
  /^(?:PATH|HOME|USER|TMPDIR|DOCKER_.*|CONTAINER.*|BUILDAH_.*|STORAGE_.*|XDG_.*|LD_.*|SSH_.*|.*_PROXY|.*_proxy)$/

function createArguments(plan: ContainerPlan, ambient: CliOptions['env']): readonly string[] {
  const { command, args = [], networks, memoryBytes, nanoCpus, user, workingDir } = plan
  const [entryPoint, ...commandRest] = command ?? []
  const [network] = networks
  return [
    ...['--name', plan.name, '--restart', plan.restartPolicy ?? 'no', '--pull', 'never'],
    ...(plan.stopSignal === undefined ? [] : ['--stop-signal', plan.stopSignal]),
    ...labelArguments(plan.labels),
    ...Object.entries(plan.env).flatMap(([name, value]) => [
      '--env',
      ownVariables.test(name) || ambient[name] !== undefined ? `${name}=${value}` : name,
    ]),
    ...plan.ports.flatMap(({ hostIP, hostPort, containerPort, protocol }) => [
      '--publish',
      `${hostIP.includes(':') ? `[${hostIP}]` : hostIP}:${hostPort}:${containerPort}/${protocol}`,
    ]),
    ...plan.mounts.flatMap(({ type, source, target, readOnly }) => [
      '--mount',
      `type=${type},source=${source},target=${target}${readOnly ? ',readonly' : ''}`,
    ]),
    ...(network ? ['--network', network.name, ...network.aliases.flatMap((alias) => ['--network-alias', alias])] : []),
    ...(user === undefined ? [] : ['--user', user]),
    ...(workingDir === undefined ? [] : ['--workdir', workingDir]),
    ...(memoryBytes === undefined ? [] : ['--memory', `${memoryBytes}b`]),
    ...(nanoCpus === undefined ? [] : ['--cpus', String(nanoCpus / 1e9)]),
    ...plan.extraHosts.flatMap((host) => ['--add-host', host]),
    ...(entryPoint === undefined ? [] : ['--entrypoint', entryPoint]),
    plan.image,
    ...commandRest,
    ...args,
  ]
}
