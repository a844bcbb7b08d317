/**
 * What people call kinds (`po`, `pods`, `deploy/web`, `websites.demo.example.com`) and objects, as the server knows them.
 */
import type { Client, DiscoveredResource } from 'evenkeel/client'
import { Failure } from '../frame/failure.ts'
import { nearest } from '../frame/nearest.ts'

/** A kind, and perhaps names of its objects. */
export interface ResourceTarget {
  readonly resource: DiscoveredResource
  /** Empty: all of them. */
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

/** The served resource of a word, in the group's preferred version. */
async function lookUpKind(client: Client, word: string): Promise<DiscoveredResource> {
  const resources = await client.resources()
  const lower = word.toLowerCase()
  const [name = '', ...group] = lower.split('.')
  const found =
    resources.find((resource) => isCalled(resource, lower)) ??
    resources.find((resource) => isCalled(resource, name) && groupFits(resource, group.join('.')))
  if (found) return found
  const meant = nearest(
    lower,
    resources.flatMap(({ plural, singular, shortNames }) => [plural, singular, ...shortNames]),
  )
  throw new Failure('unknown-kind', `the server has no kind called ${JSON.stringify(word)}`, {
    hint: meant === undefined ? 'evenkeel get --help' : `${meant}`,
  })
}

function isCalled({ plural, singular, shortNames, kind }: DiscoveredResource, name: string): boolean {
  return plural === name || singular === name || kind.toLowerCase() === name || shortNames.includes(name)
}

/** `deployments.apps`, `deployments.v1.apps`, `websites.demo`: a group may be cut short. */
function groupFits({ apiVersion }: DiscoveredResource, group: string): boolean {
  const [own = '', version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion]
  return own.startsWith(group) || `${version ?? ''}.${own}`.startsWith(group)
}
