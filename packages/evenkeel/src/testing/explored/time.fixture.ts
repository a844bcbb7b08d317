/**
 * Programs that are driven by time: a schedule, a renewal, a time to live, a backup; and one that writes the time down.
 *
 * Each is correct, and has twins with one mistake.
 */
import { defineKind, formatTime, parseTime, type KubeObject } from '#api'
import type { Clock } from '#base'
import type { ControllerDeclaration } from '#controller'
import type { Scenario, UserStep, WaitStep } from '../scenario.ts'
import { ConfigMap, Secret } from './children.fixture.ts'
import type { Subject } from './nature.fixture.ts'

const text = { type: 'string' } as const

const Plan = defineKind({
  group: 'time.dev',
  version: 'v1',
  kind: 'Plan',
  spec: {
    type: 'object',
    properties: {
      everyMinutes: { type: 'integer', minimum: 1 },
      lives: { type: 'integer', minimum: 1 },
      host: { type: 'string', pattern: '^.' },
    },
  } as const,
  status: { type: 'object', properties: { last: text, runs: { type: 'integer' }, phase: text, seen: text } } as const,
})
type PlanController = ControllerDeclaration<typeof Plan>

const place = { name: 'nightly', namespace: 'default' }
type Spec = { readonly everyMinutes?: number; readonly lives?: number; readonly host?: string }

const create = (spec: Spec): UserStep => ({
  name: 'creates Plan nightly',
  run: (user) => user.create(Plan, { metadata: place, spec }),
})
const change = (spec: Spec): UserStep => ({
  name: `sets ${JSON.stringify(spec)}`,
  run: async (user) => user.patch(await user.get(Plan, place), { spec }),
})
const remove: UserStep = { name: 'deletes Plan nightly', run: async (user) => user.delete(await user.get(Plan, place)) }

function subjectOf(
  make: (given: { clock: Clock; external: { vault: Called } }) => Omit<PlanController, 'for'>,
  steps: readonly (UserStep | WaitStep)[],
  more: Partial<Scenario> = {},
): Subject {
  return {
    controllers: (process) => [
      {
        for: Plan,
        ...make(process as unknown as { clock: Clock; external: { vault: Called } }),
      } as unknown as ControllerDeclaration,
    ],
    scenario: { name: 'plans', steps, ...(more as object) },
  }
}

function ownedBy(
  { apiVersion, kind, metadata: { name = '', uid = '', namespace = '' } }: KubeObject,
  child: string,
): { readonly metadata: KubeObject['metadata'] & { readonly name: string; readonly namespace: string } } {
  const owner = { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true }
  return { metadata: { name: child, namespace, ownerReferences: [owner] } }
}

/** Makes a ConfigMap when one is due, named by that time; keeps the last two. */
export function schedules({
  mistake,
  everyMinutes = 60,
  steps = [create({ everyMinutes }), change({ everyMinutes: everyMinutes * 2 }), remove],
}: {
  mistake?: 'forgets' | 'late'
  everyMinutes?: number
  steps?: readonly (UserStep | WaitStep)[]
} = {}): Subject {
  return subjectOf(({ clock }) => {
    const planned = new Set<string>()
    return {
      owns: [ConfigMap],
      async reconcile(plan, { client, status }) {
        const { uid = '', name, creationTimestamp = '' } = plan.metadata
        const periodMs = (plan.spec.everyMinutes ?? 60) * 60_000
        const lastMs = parseTime(plan.status?.last ?? creationTimestamp) ?? 0
        const dueMs = Math.floor(clock.now() / periodMs) * periodMs
        if (dueMs > lastMs) {
          const run = ownedBy(plan, `${name}-${dueMs / 60_000}`)
          if (mistake === 'late') await client.patchStatus(plan, { last: formatTime(dueMs) })
          await client.apply(ConfigMap, { ...run, data: { due: formatTime(dueMs) } }, { force: true })
          status.set({ last: formatTime(dueMs), runs: (plan.status?.runs ?? 0) + 1 })
        }
        status.set({ phase: 'Scheduled' })
        await keepLast(plan, client as never)
        // The timer lives in the memory of a process that has asked for it.
        if (mistake === 'forgets' && plan.status?.last !== undefined && !planned.has(uid)) return undefined
        planned.add(uid)
        return { afterMs: dueMs + periodMs - clock.now() }
      },
    }
  }, steps)
}

interface Lister {
  list(kind: typeof ConfigMap, options: object): Promise<{ items: readonly KubeObject[] }>
  delete(object: KubeObject, options: object): Promise<unknown>
}

async function keepLast({ metadata: { uid } }: KubeObject, client: Lister): Promise<void> {
  const { items } = await client.list(ConfigMap, { namespace: 'default' })
  const own = items.filter(({ metadata: { ownerReferences = [] } }) => ownerReferences.some((one) => one.uid === uid))
  const names = own.map(({ metadata: { name = '' } }) => Number(name.split('-').at(-1))).sort((a, b) => b - a)
  for (const old of own)
    if (Number(old.metadata.name?.split('-').at(-1)) < (names[1] ?? 0))
      await client.delete(old, { preconditions: { uid: old.metadata.uid ?? '' } }).catch(ignoreGone)
}

function ignoreGone(error: unknown): void {
  const { reason } = error as { reason?: string }
  if (reason !== 'NotFound' && reason !== 'Conflict') throw error
}

const [lifeMs, renewMs] = [90 * 86_400_000, 30 * 86_400_000]

/** A certificate for a host, renewed 30 days before its end. */
export function renewals({ mistake }: { mistake?: 'forgets' } = {}): Subject {
  return subjectOf(
    ({ clock }) => {
      const planned = new Set<string>()
      return {
        owns: [Secret],
        async reconcile(plan, { client, status }) {
          const { host = 'none' } = plan.spec
          const known = await client.find(Secret, place)
          const [, ofHost, until = ''] =
            /^certificate of (\S+) until (\S+)$/.exec(decoded(known?.data?.['tls.crt'])) ?? []
          let endMs = parseTime(until) ?? 0
          const isFresh = ofHost === host && endMs - renewMs > clock.now()
          if (!isFresh) {
            endMs = clock.now() + lifeMs
            const data = { 'tls.crt': encoded(`certificate of ${host} until ${formatTime(endMs)}`) }
            await client.apply(Secret, { ...ownedBy(plan, plan.metadata.name), data }, { force: true })
          }
          status.set({ phase: 'Issued', last: formatTime(endMs) })
          // The twin asks for a time only in the process that has issued it.
          if (!isFresh) planned.add(plan.metadata.uid)
          if (mistake === 'forgets' && !planned.has(plan.metadata.uid)) return undefined
          return { afterMs: endMs - renewMs - clock.now() }
        },
      }
    },
    [create({ host: 'a.example.com' }), change({ host: 'b.example.com' }), remove],
  )
}

function encoded(value: string): string {
  return Buffer.from(value).toString('base64')
}

function decoded(value = ''): string {
  return Buffer.from(value, 'base64').toString()
}

/** Is active for some hours, then it has expired and its child is removed. */
export function expiries({ mistake }: { mistake?: 'keeps' } = {}): Subject {
  return subjectOf(
    ({ clock }) => ({
      owns: [ConfigMap],
      async reconcile(plan, { client, status }) {
        const { name, creationTimestamp = '' } = plan.metadata
        const endMs = (parseTime(creationTimestamp) ?? 0) + (plan.spec.lives ?? 1) * 3_600_000
        const child = await client.find(ConfigMap, place)
        if (clock.now() < endMs) {
          await client.apply(ConfigMap, { ...ownedBy(plan, name), data: { on: 'yes' } }, { force: true })
          status.set({ phase: 'Active' })
          return { afterMs: endMs - clock.now() }
        }
        const isSkipped = mistake === 'keeps' && plan.status?.phase === 'Expired'
        if (mistake === 'keeps') await client.patchStatus(plan, { phase: 'Expired' })
        if (child?.metadata.ownerReferences?.some(({ uid }) => uid === plan.metadata.uid) === true && !isSkipped)
          await client.delete(child, { preconditions: { uid: child.metadata.uid ?? '' } }).catch(ignoreGone)
        status.set({ phase: 'Expired' })
        return undefined
      },
    }),
    [create({ lives: 4 }), remove],
  )
}

class Vault {
  readonly backups = new Map<string, { readonly of: string }>()

  ensure(name: string, of: string): void {
    this.backups.set(name, { of })
  }

  removeAll(of: string): void {
    for (const [name, backup] of this.backups) if (backup.of === of) this.backups.delete(name)
  }
}

interface Called {
  ensure(name: string, of: string): Promise<void>
  removeAll(of: string): Promise<void>
}

/** A backup outside, named by its due time; the scenario itself says when time passes. */
export function backups({ mistake }: { mistake?: 'loses' } = {}): Subject {
  return subjectOf(
    ({ clock, external: { vault } }) => ({
      async reconcile(plan, { client, status }) {
        const periodMs = (plan.spec.everyMinutes ?? 60) * 60_000
        const lastMs = parseTime(plan.status?.last ?? plan.metadata.creationTimestamp ?? '') ?? 0
        const dueMs = Math.floor(clock.now() / periodMs) * periodMs
        if (dueMs > lastMs) {
          if (mistake === 'loses') await client.patchStatus(plan, { last: formatTime(dueMs) })
          await vault.ensure(`${plan.metadata.name}-${formatTime(dueMs)}`, plan.metadata.uid)
          status.set({ last: formatTime(dueMs) })
        }
        status.set({ phase: 'Scheduled' })
        return { afterMs: dueMs + periodMs - clock.now() }
      },
      cleanup: (plan) => vault.removeAll(plan.metadata.uid),
    }),
    [create({ everyMinutes: 24 * 60 }), { wait: '50h' }, remove],
    { external: () => ({ vault: new Vault() }), startsAt: '2026-03-28T22:00:00Z' },
  )
}

/** Writes into the status when it last looked: each write causes the next. */
export function stamps({ precision }: { precision: 'milliseconds' | 'seconds' | 'none' }): Subject {
  return subjectOf(
    ({ clock }) => ({
      reconcile(_, { status }) {
        const seen =
          precision === 'none' ? 'yes' : precision === 'seconds' ? formatTime(clock.now()) : String(clock.now())
        status.set({ phase: 'Ready', seen })
      },
    }),
    [create({})],
  )
}
