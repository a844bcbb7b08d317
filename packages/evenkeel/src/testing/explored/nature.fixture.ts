/**
 * Programs in whose world something differs by nature: serial numbers, allotted addresses, names by generation or uid.
 *
 * Each is correct, and has a twin with one mistake that concerns the same values.
 */
import { defineKind, type KubeObject } from '#api'
import type { ControllerDeclaration } from '#controller'
import type { ProcessContext, Scenario, UserStep } from '../scenario.ts'
import { ConfigMap, Secret } from './children.fixture.ts'

export interface Subject {
  readonly controllers: (process: ProcessContext<never>) => readonly ControllerDeclaration[]
  readonly scenario: Omit<Scenario<never>, 'controllers'>
}

const text = { type: 'string' } as const

/** A database, a project, a site: what the user asks for in one or two words. */
const Site = defineKind({
  group: 'nature.dev',
  version: 'v1',
  kind: 'Site',
  spec: {
    type: 'object',
    properties: {
      version: { type: 'string', pattern: '^.' },
      host: { type: 'string', pattern: '^.' },
      projectId: { type: 'string', pattern: '^.' },
    },
  } as const,
  status: {
    type: 'object',
    properties: { version: text, host: text, address: text, revision: text, certificate: text, key: text },
  } as const,
})
type SiteController = ControllerDeclaration<typeof Site>
type Called<T> = {
  [K in keyof T]: T[K] extends (...parameters: infer P) => infer R ? (...parameters: P) => Promise<R> : T[K]
}

const place = { name: 'web', namespace: 'default' }
type Spec = { readonly version?: string; readonly host?: string; readonly projectId?: string }

/** The user creates a Site, changes it, and deletes it. */
function stepsOf(first: Spec, ...others: readonly Spec[]): readonly UserStep[] {
  return [
    { name: 'creates Site web', run: (user) => user.create(Site, { metadata: place, spec: first }) },
    ...others.map((spec) => ({
      name: `sets ${JSON.stringify(spec)}`,
      run: async (user: Parameters<UserStep['run']>[0]) => user.patch(await user.get(Site, place), { spec }),
    })),
    { name: 'deletes Site web', run: async (user) => user.delete(await user.get(Site, place)) },
  ]
}

function subjectOf<External extends object>(
  make: (process: ProcessContext<{ [K in keyof External]: Called<External[K]> }>) => Omit<SiteController, 'for'>,
  { steps, external }: { steps: readonly UserStep[]; external: () => External },
): Subject {
  return {
    controllers: (process) => [
      {
        for: Site,
        ...make(process as ProcessContext<{ [K in keyof External]: Called<External[K]> }>),
      } as ControllerDeclaration,
    ],
    scenario: { name: 'sites', steps, external: external as Subject['scenario']['external'] & object },
  }
}

function ownedBy(
  { apiVersion, kind, metadata: { name = '', uid = '', namespace = '' } }: KubeObject,
  child: string,
): {
  readonly metadata: KubeObject['metadata']
} {
  const owner = { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true }
  return { metadata: { name: child, namespace, ownerReferences: [owner] } }
}

const none = (): object => ({})

/** Upgrades: the version is a wish, though others call a counter so. */
export function upgrades({ isBroken }: { isBroken: boolean }): Subject {
  return subjectOf(
    () => ({
      owns: [ConfigMap],
      async reconcile(site, { client, status }) {
        const { version = '1' } = site.spec
        if (isBroken) {
          // The status is written before the work: after a crash in between, the upgrade is lost.
          if (site.status?.version === version) return
          await client.patchStatus(site, { version })
        }
        await client.apply(ConfigMap, { ...ownedBy(site, site.metadata.name), data: { version } }, { force: true })
        status.set({ version })
      },
    }),
    { steps: stepsOf({ version: '15' }, { version: '16' }, { version: '15' }), external: none },
  )
}

/** The buckets of projects. */
class Projects {
  readonly buckets = new Map<string, { id: string; projectId: string }>()
  #last = 100

  ensure(owner: string, projectId: string): string {
    const known = this.buckets.get(owner)
    const id = known?.projectId === projectId ? known.id : `bucket-${++this.#last}`
    this.buckets.set(owner, { id, projectId })
    return id
  }

  remove(owner: string): void {
    this.buckets.delete(owner)
  }
}

/** Moves a bucket between projects; its id follows from a counter, the id of the project from the user. */
export function moves({ isBroken }: { isBroken: boolean }): Subject {
  return subjectOf<{ projects: Projects }>(
    ({ external: { projects } }) => ({
      async reconcile(site, { client, status }) {
        const { projectId = 'none' } = site.spec
        if (isBroken) {
          if (site.status?.host === projectId) return
          await client.patchStatus(site, { host: projectId })
        }
        status.set({ host: projectId, address: await projects.ensure(site.metadata.name, projectId) })
      },
      cleanup: (site) => projects.remove(site.metadata.name),
    }),
    { steps: stepsOf({ projectId: 'p-1' }, { projectId: 'p-2' }), external: () => ({ projects: new Projects() }) },
  )
}

/** Counts certificates, and remembers none. */
class Issuer {
  #serial = 0

  issue(host: string): { certificate: string; key: string } {
    const serial = ++this.#serial
    return { certificate: `certificate of ${host}, serial ${serial}`, key: `private key number ${serial * 7919}` }
  }
}

function encoded(value: string): string {
  return Buffer.from(value).toString('base64')
}

function textIn(data: Readonly<Record<string, string>> | undefined, key: string): string {
  return Buffer.from(data?.[key] ?? '', 'base64').toString()
}

/** Issues a certificate when the host is another one. */
export function issues({ mistake }: { mistake?: 'loses' | 'leaks' | 'publishes' } = {}): Subject {
  return subjectOf<{ issuer: Issuer }>(
    ({ external: { issuer }, log }) => ({
      owns: [Secret],
      async reconcile(site, { client, status }) {
        const { host = 'none' } = site.spec
        const name = site.metadata.name
        const known = await client.find(Secret, place)
        const isCurrent = textIn(known?.data, 'certificate').startsWith(`certificate of ${host},`)
        const isKept = mistake === 'loses' ? site.status?.host === host : isCurrent
        if (mistake === 'loses' && !isKept) await client.patchStatus(site, { host })
        if (!isKept || !known) {
          const issued = await issuer.issue(host)
          if (mistake === 'leaks') log.info('issued', { key: issued.key })
          const data = { certificate: encoded(issued.certificate), key: encoded(issued.key) }
          await client.apply(Secret, { ...ownedBy(site, name), data }, { force: true })
          return { afterMs: 0 }
        }
        status.set({
          host,
          certificate: textIn(known.data, 'certificate'),
          ...(mistake === 'publishes' && { key: textIn(known.data, 'key') }),
        })
        return undefined
      },
    }),
    {
      steps: stepsOf({ host: 'a.example.com' }, { host: 'b.example.com' }, { host: 'a.example.com' }),
      external: () => ({ issuer: new Issuer() }),
    },
  )
}

/** Gives the lowest free address to each owner. */
class Pool {
  readonly #owners = new Map<string, string>()

  allot(owner: string): string {
    for (const [address, one] of this.#owners) if (one === owner) return address
    let number = 1
    while (this.#owners.has(`10.0.0.${number}`)) number++
    this.#owners.set(`10.0.0.${number}`, owner)
    return `10.0.0.${number}`
  }

  release(owner: string): void {
    for (const [address, one] of this.#owners) if (one === owner) this.#owners.delete(address)
  }
}

/** Writes the allotted address and the host of the user into one text of a child. */
export function addresses({ isBroken }: { isBroken: boolean }): Subject {
  return subjectOf<{ pool: Pool }>(
    ({ external: { pool } }) => ({
      owns: [ConfigMap],
      async reconcile(site, { client, status }) {
        const { host = 'none' } = site.spec
        const address = await pool.allot(site.metadata.uid)
        if (isBroken) {
          if (site.status?.host === host) return
          await client.patchStatus(site, { host })
        }
        const data = { hosts: `${address} ${host}` }
        await client.apply(ConfigMap, { ...ownedBy(site, site.metadata.name), data }, { force: true })
        status.set({ host, address })
      },
      cleanup: (site) => pool.release(site.metadata.uid),
    }),
    { steps: stepsOf({ host: 'a' }, { host: 'b' }), external: () => ({ pool: new Pool() }) },
  )
}

/** One child for each generation, of which only the newest stays. */
export function revisions({ isBroken }: { isBroken: boolean }): Subject {
  return namedBy(({ metadata: { name = '', generation = 0 } }) => `${name}-rev-${generation}`, isBroken)
}

/** One child whose name contains a part of the uid. */
export function uidNames({ isBroken }: { isBroken: boolean }): Subject {
  return namedBy(({ metadata: { name = '', uid = '' } }) => `${name}-${uid.slice(0, 6)}`, isBroken)
}

function namedBy(nameOf: (site: KubeObject) => string, isBroken: boolean): Subject {
  return subjectOf(
    () => ({
      owns: [ConfigMap],
      async reconcile(site, { client, status }) {
        const { version = '1' } = site.spec
        const name = nameOf(site)
        const { items } = await client.list(ConfigMap, { namespace: 'default' })
        const own = items.filter(({ metadata: { ownerReferences = [] } }) =>
          ownerReferences.some(({ uid }) => uid === site.metadata.uid),
        )
        const isNew = !own.some(({ metadata }) => metadata.name === name)
        if (isBroken && !isNew) return
        await client.apply(ConfigMap, { ...ownedBy(site, name), data: { version } }, { force: true })
        for (const old of own)
          if (old.metadata.name !== name)
            await client.delete(old, { preconditions: { uid: old.metadata.uid ?? '' } }).catch(ignoreMissing)
        status.set({ revision: name })
      },
    }),
    { steps: stepsOf({ version: '15' }, { version: '16' }), external: none },
  )
}

function ignoreMissing(error: unknown): void {
  const { reason } = error as { reason?: string }
  if (reason !== 'NotFound' && reason !== 'Conflict') throw error
}
