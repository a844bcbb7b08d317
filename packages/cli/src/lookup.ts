/**
 * Finds kinds, objects and namespaces by the words of a command line: `po`, `pods`, `deploy/web`, `websites.demo.example.com`.
 */
import type { KubeObject } from 'evenkeel'
import type { Client, DiscoveredResource } from 'evenkeel/client'
import type { Invocation, OptionValues } from './command.ts'
import { Failure } from './failure.ts'
import { orSuggest } from './not-found.ts'
import { nearestWords } from './parse.ts'

/** A kind and names of its objects. */
export interface ResourceTarget {
  readonly resource: DiscoveredResource
  /** Empty: all objects. */
  readonly names: readonly string[]
}

/** From `KIND`, `KIND NAME ...` or `KIND/NAME ...`. @throws {Failure} `unknown-kind`, `usage` */
export async function lookUp(client: Client, words: readonly string[]): Promise<readonly ResourceTarget[]> {
  const [first = '', ...rest] = words
  if (words.some((word) => word.includes('/'))) return Promise.all(words.map((word) => lookUpObject(client, word)))
  return Promise.all(first.split(',').map(async (kind) => ({ resource: await lookUpKind(client, kind), names: rest })))
}

/** From `KIND/NAME`. */
export async function lookUpObject(client: Client, word: string): Promise<ResourceTarget & { readonly name: string }> {
  const [kind = '', name = '', ...more] = word.split('/')
  if (kind === '' || name === '' || more.length > 0)
    throw new Failure('usage', `${JSON.stringify(word)} is not of the form KIND/NAME`)
  return { resource: await lookUpKind(client, kind), names: [name], name }
}

/** The resource for a word, in the preferred version of its group. */
export async function lookUpKind(client: Client, word: string): Promise<DiscoveredResource> {
  const resources = await client.resources()
  const lower = word.toLowerCase()
  const [name = '', ...group] = lower.split('.')
  const found =
    resources.find((resource) => isCalled(resource, lower)) ??
    resources.find((resource) => isCalled(resource, name) && groupFits(resource, group.join('.')))
  if (found) return found
  throw unknownKind(word, resources)
}

/** With the names of similar kinds, one name for each. */
export function unknownKind(word: string, resources: readonly DiscoveredResource[]): Failure {
  const names = resources
    .flatMap(({ plural, singular, shortNames }) => [plural, singular, ...shortNames])
    .filter(Boolean)
  const [typed = ''] = word.toLowerCase().split('.')
  const meant = nearestWords(typed, names)
  const isSame = (a: string, b: string): boolean =>
    resources.some((resource) => isCalled(resource, a) && isCalled(resource, b))
  const shown = meant.filter((name, index) => !meant.slice(0, index).some((earlier) => isSame(earlier, name)))
  return new Failure('unknown-kind', `the server has no kind called ${JSON.stringify(word)}`, {
    hint: shown.length === 0 ? 'evenkeel doctor lists the installed kinds' : shown.join(', '),
  })
}

/** Whether a word in lower case names the resource, without its group. */
export function isCalled({ plural, singular, shortNames, kind }: DiscoveredResource, name: string): boolean {
  return plural === name || singular === name || kind.toLowerCase() === name || shortNames.includes(name)
}

/** `deployments.apps`, `deployments.v1.apps`, `websites.demo`: a group may be abbreviated. */
function groupFits({ apiVersion }: DiscoveredResource, group: string): boolean {
  const [own = '', version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion]
  return own.startsWith(group) || `${version ?? ''}.${own}`.startsWith(group)
}

/** Reads the objects of `KIND`, `KIND NAME ...` or `KIND/NAME ...`. @throws {ApiError} `NotFound`; {@link Failure} `usage` */
export async function readTargets(
  client: Client,
  { words, values, io: { signal } }: Invocation,
): Promise<readonly KubeObject[]> {
  const objects: KubeObject[] = []
  for (const {
    resource: { apiVersion, kind, namespaced },
    names,
  } of await lookUp(client, words)) {
    const namespace = (names.length === 0 ? namespaceOf : oneNamespaceOf)(values, { namespaced }, client)
    const place = namespace === undefined ? {} : { namespace }
    if (names.length === 0)
      objects.push(
        ...(await client.list({ apiVersion, kind }, { ...place, signal })).items.map((item) => ({
          ...item,
          apiVersion,
          kind,
        })),
      )
    for (const name of names)
      objects.push(
        await orSuggest(client.get({ apiVersion, kind }, { name, ...place }, { signal }), client, {
          object: { apiVersion, kind, name, ...place },
          signal,
        }),
      )
  }
  return objects
}

/** Reads the object of `KIND/NAME` or `KIND NAME`. @throws {Failure} `usage` */
export async function readTarget(client: Client, call: Invocation): Promise<KubeObject> {
  const objects = await readTargets(client, call)
  const [object] = objects
  if (object && objects.length === 1) return object
  throw new Failure('usage', `name one object: KIND/NAME`, {
    hint: objects[0] ? `${objects[0].kind.toLowerCase()}/${objects[0].metadata.name ?? ''}` : undefined,
  })
}

/** The namespace of named objects; undefined: a cluster-scoped kind. @throws {Failure} `usage` */
export function oneNamespaceOf(
  values: OptionValues,
  { namespaced }: Pick<DiscoveredResource, 'namespaced'>,
  client: Pick<Client, 'namespace'>,
): string | undefined {
  const namespace = namespaceOf(values, { namespaced }, client)
  if (namespaced && namespace === undefined)
    throw new Failure('usage', 'a name needs one namespace: use -n instead of -A', { hint: '-n NAMESPACE' })
  return namespace
}

/** The namespace of a command; undefined: all namespaces, or a cluster-scoped kind. @throws {Failure} `usage` */
export function namespaceOf(
  values: OptionValues,
  { namespaced }: Pick<DiscoveredResource, 'namespaced'>,
  { namespace = 'default' }: Pick<Client, 'namespace'>,
): string | undefined {
  const given = values.text('namespace')
  if (values.flag('all-namespaces') && given !== undefined)
    throw new Failure('usage', 'use --namespace or --all-namespaces, not both')
  if (!namespaced || values.flag('all-namespaces')) return undefined
  return given ?? namespace
}
