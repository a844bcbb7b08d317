/**
 * A container runtime by the Engine HTTP API over a Unix socket: Docker, and Podman by `podman system service`.
 *
 *   GET /version ──▶ the range of versions ──▶ /v1.41/…     the oldest that has what is used, unless the runtime wants a later one
 *
 * Invariant: nothing is kept between calls but the version, so a runtime that was restarted is the same runtime.
 */
import type { Clock } from 'evenkeel/unstable/base'
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
  type RuntimeVersion,
  type VolumeFacts,
  type VolumePlan,
} from './container-runtime.ts'
import { tarOfContext } from './build-context.ts'
import { EngineHttp, type EngineFailure, type EngineRequest } from './engine-http.ts'
import {
  containerBody,
  factsOfContainer,
  factsOfNetwork,
  summaryOf,
  type EngineContainer,
  type EngineContainerRow,
  type EngineNetwork,
} from './engine-messages.ts'
import { EngineStreams } from './engine-streams.ts'
import { readJsonLines } from './log-frames.ts'

interface EngineVersion {
  readonly Version?: string
  readonly ApiVersion?: string
  readonly MinAPIVersion?: string
  readonly Components?: readonly { readonly Name?: string }[]
}

interface EngineVolume {
  readonly Name: string
  readonly Driver?: string
  readonly Labels?: Labels | null
}

const preferredVersion = '1.41'
const [versionMs, slowMs] = [10_000, 300_000]
/** How many of the last lines of a failed build are shown. */
const buildLines = 15

export class EngineRuntime implements ContainerRuntime {
  readonly streams: ContainerStreams
  readonly #http: EngineHttp
  #version: string | undefined

  constructor({ socketPath, clock }: { readonly socketPath: string; readonly clock: Clock }) {
    this.#http = new EngineHttp({ socketPath, clock })
    this.streams = new EngineStreams({ http: this.#http, pathOf: (path) => this.#path(path) })
  }

  async findVersion(): Promise<RuntimeVersion> {
    const found = await this.#http.json<EngineVersion>({ method: 'GET', path: '/version', timeoutMs: versionMs })
    this.#version = versionFor(found)
    const isPodman = found.Components?.some(({ Name = '' }) => /podman/i.test(Name)) ?? false
    return { name: isPodman ? 'podman' : 'docker', version: found.Version ?? '', apiVersion: this.#version }
  }

  async findImage(reference: string): Promise<ImageFacts | undefined> {
    const found = await this.#find<{ readonly Id: string; readonly RepoTags?: readonly string[] | null }>(
      `/images/${reference}/json`,
    )
    return found && { id: found.Id, tags: found.RepoTags ?? [] }
  }

  async pullImage(reference: string, { onProgress, signal }: PullOptions = {}): Promise<void> {
    const failure: EngineFailure = (_, message) => pullFailure(reference, message)
    const { body } = await this.#http.stream(
      {
        method: 'POST',
        path: await this.#path('/images/create'),
        query: { fromImage: withTag(reference) },
        ...(signal && { signal }),
      },
      failure,
    )
    for await (const line of readJsonLines(body)) {
      if (line['error'] !== undefined) throw pullFailure(reference, String(line['error']))
      if (typeof line['status'] === 'string') onProgress?.(line['status'])
    }
  }

  async buildImage({ context, dockerfile, args, target, labels, tag }: BuildPlan, options: PullOptions = {}) {
    const { body } = await this.#http.stream(
      {
        method: 'POST',
        path: await this.#path('/build'),
        query: {
          t: tag,
          dockerfile,
          target,
          labels: JSON.stringify(labels),
          buildargs: JSON.stringify(Object.fromEntries(args.map(({ name, value }) => [name, value]))),
          rm: true,
          forcerm: true,
        },
        content: { type: 'application/x-tar', bytes: tarOfContext({ folder: context, dockerfile }) },
        ...(options.signal && { signal: options.signal }),
      },
      (_, message) => new RuntimeError('BuildFailed', `the build of ${tag} failed: ${message}`),
    )
    const lines: string[] = []
    for await (const line of readJsonLines(body)) {
      const text = typeof line['stream'] === 'string' ? line['stream'] : ''
      for (const one of text.split('\n')) if (one.trim() !== '') lines.push(one)
      lines.splice(0, lines.length - buildLines)
      if (/^step \d+/i.test(text)) options.onProgress?.(text.trim())
      if (line['error'] !== undefined)
        throw new RuntimeError(
          'BuildFailed',
          `the build of ${tag} failed: ${String(line['error']).trim()}\n${lines.join('\n')}`,
        )
    }
  }

  async createContainer(plan: ContainerPlan): Promise<{ readonly id: string }> {
    const { Id } = await this.#call<{ readonly Id: string }>('POST', '/containers/create', {
      query: { name: plan.name },
      body: containerBody(plan),
      failure: createFailure,
    })
    // The first network is part of the create; a container that is not started yet is connected to the others.
    try {
      for (const { name, aliases } of plan.networks.slice(1)) await this.#connect(name, Id, aliases)
    } catch (error) {
      await this.removeContainer(Id)
      throw error
    }
    return { id: Id }
  }

  async startContainer(id: string): Promise<void> {
    await this.#call('POST', `/containers/${id}/start`, {
      failure: (status, message) =>
        status === 404 && !/exec|runc|crun/.test(message) ? notFound(message) : startFailure(message),
    })
  }

  async stopContainer(id: string, { graceMs }: { readonly graceMs: number }): Promise<void> {
    await this.#call('POST', `/containers/${id}/stop`, {
      query: { t: Math.ceil(graceMs / 1000) },
      timeoutMs: graceMs + slowMs,
    })
  }

  async killContainer(id: string, signal: string): Promise<void> {
    await this.#call('POST', `/containers/${id}/kill`, { query: { signal } })
  }

  async unpauseContainer(id: string): Promise<void> {
    await this.#call('POST', `/containers/${id}/unpause`)
  }

  async removeContainer(id: string): Promise<void> {
    await this.#remove(`/containers/${id}`, { force: true, v: true })
  }

  async findContainer(nameOrId: string): Promise<ContainerFacts | undefined> {
    const found = await this.#find<EngineContainer>(`/containers/${nameOrId}/json`)
    return found && factsOfContainer(found)
  }

  async listContainers(labels: Labels): Promise<readonly ContainerSummary[]> {
    const rows = await this.#call<readonly EngineContainerRow[]>('GET', '/containers/json', {
      query: { all: true, filters: filtersOf(labels) },
    })
    return rows.map(summaryOf)
  }

  async createNetwork({ name, labels, internal, ipv6 }: NetworkPlan): Promise<void> {
    await this.#call('POST', '/networks/create', {
      body: {
        Name: name,
        CheckDuplicate: true,
        Driver: 'bridge',
        Internal: internal,
        EnableIPv6: ipv6,
        Labels: labels,
      },
      failure: (status, message) =>
        /exists|already used/i.test(message) ? conflict(message) : failed(status, message),
    })
  }

  async findNetwork(name: string): Promise<NetworkFacts | undefined> {
    const found = await this.#find<EngineNetwork>(`/networks/${name}`)
    return found && factsOfNetwork(found)
  }

  async listNetworks(labels: Labels): Promise<readonly NetworkFacts[]> {
    const rows = await this.#call<readonly EngineNetwork[]>('GET', '/networks', {
      query: { filters: filtersOf(labels) },
    })
    return rows.map(factsOfNetwork)
  }

  async removeNetwork(name: string): Promise<void> {
    await this.#remove(`/networks/${name}`)
  }

  connectNetwork(name: string, container: string, aliases: readonly string[]): Promise<void> {
    return ignoring(this.#connect(name, container, aliases), connectedWords)
  }

  disconnectNetwork(name: string, container: string): Promise<void> {
    const body = { Container: container, Force: true }
    return ignoring(this.#call('POST', `/networks/${name}/disconnect`, { body }), disconnectedWords)
  }

  #connect(name: string, container: string, aliases: readonly string[]): Promise<void> {
    return this.#call('POST', `/networks/${name}/connect`, {
      body: { Container: container, EndpointConfig: { Aliases: aliases } },
    })
  }

  async createVolume({ name, labels }: VolumePlan): Promise<void> {
    await this.#call('POST', '/volumes/create', { body: { Name: name, Labels: labels } })
  }

  async findVolume(name: string): Promise<VolumeFacts | undefined> {
    const found = await this.#find<EngineVolume>(`/volumes/${name}`)
    return found && factsOfVolume(found)
  }

  async listVolumes(labels: Labels): Promise<readonly VolumeFacts[]> {
    const { Volumes } = await this.#call<{ readonly Volumes?: readonly EngineVolume[] | null }>('GET', '/volumes', {
      query: { filters: filtersOf(labels) },
    })
    return (Volumes ?? []).map(factsOfVolume)
  }

  async removeVolume(name: string): Promise<void> {
    await this.#remove(`/volumes/${name}`)
  }

  async #call<T>(
    method: EngineRequest['method'],
    path: string,
    {
      failure,
      ...rest
    }: Pick<EngineRequest, 'query' | 'body' | 'timeoutMs'> & { readonly failure?: EngineFailure } = {},
  ): Promise<T> {
    return this.#http.json<T>({ timeoutMs: slowMs, ...rest, method, path: await this.#path(path) }, failure)
  }

  /** Undefined for what does not exist. */
  async #find<T>(path: string): Promise<T | undefined> {
    try {
      return await this.#call<T>('GET', path)
    } catch (error) {
      if (error instanceof RuntimeError && error.code === 'NotFound') return undefined
      throw error
    }
  }

  async #remove(path: string, query: EngineRequest['query'] = {}): Promise<void> {
    try {
      await this.#call('DELETE', path, { query })
    } catch (error) {
      if (!(error instanceof RuntimeError && error.code === 'NotFound')) throw error
    }
  }

  async #path(path: string): Promise<string> {
    if (this.#version === undefined) await this.findVersion()
    return `/v${this.#version ?? preferredVersion}${path}`
  }
}

function filtersOf(labels: Labels): string {
  return JSON.stringify({ label: Object.entries(labels).map(([name, value]) => `${name}=${value}`) })
}

/** The oldest version that has what is used, within the range of the runtime. */
function versionFor({ ApiVersion = preferredVersion, MinAPIVersion = '1.12' }: EngineVersion): string {
  if (isOlder(preferredVersion, MinAPIVersion)) return MinAPIVersion
  return isOlder(ApiVersion, preferredVersion) ? ApiVersion : preferredVersion
}

function isOlder(one: string, other: string): boolean {
  const [major = 0, minor = 0] = one.split('.').map(Number)
  const [otherMajor = 0, otherMinor = 0] = other.split('.').map(Number)
  return major < otherMajor || (major === otherMajor && minor < otherMinor)
}

/** Without a tag the API pulls all of them. */
function withTag(reference: string): string {
  return /@|:[^/]+$/.test(reference) ? reference : `${reference}:latest`
}

const createFailure: EngineFailure = (status, message) => {
  if (status === 409 || /already in use/i.test(message)) return conflict(message)
  if (/no such image|image not known|image.*not found/i.test(message)) return new RuntimeError('ImageNotFound', message)
  return failed(status, message)
}

function notFound(message: string): RuntimeError {
  return new RuntimeError('NotFound', message)
}

function conflict(message: string): RuntimeError {
  return new RuntimeError('Conflict', message)
}

function failed(status: number, message: string): RuntimeError {
  return new RuntimeError(status === 404 ? 'NotFound' : 'Failed', message)
}

function factsOfVolume({ Name, Driver = 'local', Labels: labels }: EngineVolume): VolumeFacts {
  return { name: Name, driver: Driver, labels: labels ?? {} }
}
