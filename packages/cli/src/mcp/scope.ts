/**
 * What a Model Context Protocol server may see and change: one API server with the rights of its kubeconfig, and perhaps
 * only one namespace of it.
 *
 * Invariants:
 *
 * - With a namespace limit no object of another namespace and no cluster-scoped object is shown or changed.
 * - Objects leave this class through `shown`: without managed fields, and with the values of Secrets masked.
 * - A server that does not respond is looked up again with the next call: `evenkeel up` may have chosen another port.
 */
import type { KubeObject } from 'evenkeel'
import type { Client, DiscoveredResource } from 'evenkeel/client'
import type { Clock } from 'evenkeel/unstable/base'
import type { JsonObject } from 'evenkeel/unstable/api'
import type { OptionValues } from '../command.ts'
import { configFor } from '../connection.ts'
import { Failure, failureOf } from '../failure.ts'
import { localKubeconfigPath } from '../local-folder.ts'
import { lookUpKind, unknownKind } from '../lookup.ts'
import { readManager, readRules, type ManagerReport, type RuleFinding } from '../managers.ts'
import { withoutManagedFields } from '../manifests.ts'
import type { WorkloadsPackage } from '../modules.ts'
import { orSuggest } from '../not-found.ts'
import { activeRun, dataFolderOf, type RunRecord } from '../run/run-record.ts'
import { maskSecret } from './secret-mask.ts'

export interface ScopeOptions {
  /** Opens a client; the caller closes it in the end. */
  readonly connect: () => Promise<Client>
  /** For `--manager`. */
  readonly values: OptionValues
  /** The folder whose managers are read, and whose run may be ended. */
  readonly cwd: string
  /** Says which server is that of this folder. @default none is set */
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  /** The only namespace. @default all that the kubeconfig may read */
  readonly namespace?: string | undefined
  /** @default false */
  readonly showSecrets?: boolean
}

/** An object of a kind, by name. */
export interface ObjectTarget {
  readonly resource: DiscoveredResource
  readonly name: string
  /** Undefined: the kind is cluster-scoped. */
  readonly namespace: string | undefined
}

export class Scope {
  readonly clock: Clock
  /** The only namespace; undefined: no limit. */
  readonly limit: string | undefined
  readonly #options: ScopeOptions
  #client: Promise<Client> | undefined

  constructor(options: ScopeOptions) {
    this.#options = options
    this.clock = options.clock
    this.limit = options.namespace
  }

  /** @throws {ConfigError} when no server is configured. */
  client(): Promise<Client> {
    const client = (this.#client ??= this.#options.connect())
    client.catch(() => {
      if (this.#client === client) this.#client = undefined
    })
    return client
  }

  /** After an error of the connection the next call reads the kubeconfig again. */
  noteError(error: unknown): void {
    if (failureOf(error)?.code === 'no-server') this.#client = undefined
  }

  /** The resource of a word. Kinds that were installed a moment ago count. @throws {Failure} `unknown-kind`, `usage` */
  async kind(word: string): Promise<DiscoveredResource> {
    if (!/^[\w.-]+$/.test(word))
      throw new Failure('usage', `kind must be one name of a kind, got ${JSON.stringify(word)}`, {
        hint: 'kind "lamps" and name "desk", in two arguments',
      })
    const client = await this.client()
    try {
      return await lookUpKind(client, word)
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== 'unknown-kind') throw error
      await client.resources({ reload: true })
      return lookUpKind(client, word)
    }
  }

  /** The resource of an object. @throws {Failure} `unknown-kind` */
  async kindOf({ apiVersion, kind }: Pick<KubeObject, 'apiVersion' | 'kind'>): Promise<DiscoveredResource> {
    const client = await this.client()
    const find = (resources: readonly DiscoveredResource[]): DiscoveredResource | undefined =>
      resources.find((each) => each.apiVersion === apiVersion && each.kind === kind)
    const known = find(await client.resources())
    if (known) return known
    const fresh = await client.resources({ reload: true })
    const found = find(fresh)
    if (!found) throw unknownKind(kind, fresh)
    return found
  }

  /** The kinds that may be read here. */
  async kinds(signal: AbortSignal): Promise<readonly DiscoveredResource[]> {
    const resources = await (await this.client()).resources({ reload: true, signal })
    return resources.filter(({ namespaced }) => namespaced || this.limit === undefined)
  }

  /** The namespace for a kind; undefined for a cluster-scoped one. @throws {Failure} `not-allowed` outside of the limit */
  async namespaceFor(
    { kind, namespaced }: Pick<DiscoveredResource, 'kind' | 'namespaced'>,
    given: string | undefined,
  ): Promise<string | undefined> {
    if (this.limit !== undefined && !namespaced)
      throw new Failure(
        'not-allowed',
        `${kind} is cluster-scoped, and this server is limited to namespace ${this.limit}`,
      )
    if (this.limit !== undefined && given !== undefined && given !== this.limit)
      throw new Failure(
        'not-allowed',
        `this server is limited to namespace ${this.limit}, got ${JSON.stringify(given)}`,
      )
    if (!namespaced) return undefined
    return given ?? this.limit ?? (await this.client()).namespace ?? 'default'
  }

  async target(
    kind: string,
    name: string,
    { namespace }: { readonly namespace?: string | undefined },
  ): Promise<ObjectTarget> {
    const resource = await this.kind(kind)
    return { resource, name, namespace: await this.namespaceFor(resource, namespace) }
  }

  /** The object as the server has it: not to be shown. @throws {Failure} `not-found`, with names that exist */
  async read(
    { resource: { apiVersion, kind }, name, namespace }: ObjectTarget,
    signal: AbortSignal,
  ): Promise<KubeObject> {
    const client = await this.client()
    const place = namespace === undefined ? {} : { namespace }
    const object = { apiVersion, kind, name, ...place }
    const reading = client.get({ apiVersion, kind }, { name, ...place }, { signal })
    // Suggestions name other namespaces: those are beyond a limit.
    const found = await (this.limit === undefined ? orSuggest(reading, client, { object, signal }) : reading)
    return { ...found, apiVersion, kind }
  }

  /** An object as it may be shown. */
  shown(object: KubeObject, { managedFields = false }: { readonly managedFields?: boolean } = {}): JsonObject {
    const json = object as unknown as JsonObject
    const compact = managedFields ? json : withoutManagedFields(json)
    return this.#options.showSecrets === true ? compact : maskSecret(compact)
  }

  get showsSecrets(): boolean {
    return this.#options.showSecrets === true
  }

  /** The `evenkeel run` of this folder, if this server is its own and the limit allows its namespace. */
  async activeRun(workloads: WorkloadsPackage): Promise<RunRecord | undefined> {
    const { cwd, values, env = {} } = this.#options
    const { path } = await configFor(values, { cwd, env })
    if (path !== localKubeconfigPath(cwd)) return undefined
    const run = await activeRun(dataFolderOf(values, cwd), workloads)
    return this.limit === undefined || run?.namespace === this.limit ? run : undefined
  }

  manager(signal: AbortSignal): Promise<ManagerReport | undefined> {
    return readManager(this.#options.values, { cwd: this.#options.cwd, signal })
  }

  rules(signal: AbortSignal): Promise<readonly RuleFinding[] | undefined> {
    return readRules(this.#options.values, { cwd: this.#options.cwd, signal })
  }
}
