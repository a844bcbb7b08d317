/**
 * A third world: a DnsRecord is a name in a DNS zone that also has names of other owners.
 *
 * No object represents the name: the controller must record the names it creates, or they remain.
 */
import { defineKind } from 'evenkeel'
import type { ObjectOf } from 'evenkeel'
import type { ControllerDeclaration } from 'evenkeel/controller'
import type { ProcessContext, UserStep } from 'evenkeel/testing'
import type { Subject } from '../mutant.ts'

export const DnsRecord = defineKind({
  group: 'mutants.dev',
  version: 'v1',
  kind: 'DnsRecord',
  spec: {
    type: 'object',
    properties: { host: { type: 'string', minLength: 1 }, values: { type: 'array', items: { type: 'string' } } },
    required: ['host'],
  } as const,
  status: {
    type: 'object',
    properties: { hosts: { type: 'array', items: { type: 'string' } }, observedGeneration: { type: 'integer' } },
  } as const,
})

type RecordObject = ObjectOf<typeof DnsRecord>

class Zone {
  readonly names = new Map<string, { owner: string; values: readonly string[] }>([
    ['mail', { owner: 'the mail team', values: ['10.0.0.9'] }],
  ])

  set(host: string, owner: string, values: readonly string[]): void {
    this.names.set(host, { owner, values })
  }

  /** Changes an existing name. */
  change(host: string, values: readonly string[]): void {
    const name = this.names.get(host)
    if (!name) throw new Error(`there is no name ${host}`)
    name.values = values
  }

  remove(host: string): void {
    this.names.delete(host)
  }

  list(): { host: string; owner: string }[] {
    return [...this.names].map(([host, { owner }]) => ({ host, owner }))
  }
}

type AsCalled<T> = {
  [K in keyof T]: T[K] extends (...parameters: infer P) => infer R ? (...parameters: P) => Promise<R> : T[K]
}

const place = { name: 'r', namespace: 'default' }

export const does = {
  create: {
    name: 'creates DnsRecord r',
    run: (user) => user.create(DnsRecord, { metadata: place, spec: { host: 'www', values: ['10.0.0.1'] } }),
  },
  rename: {
    name: 'changes the host of DnsRecord r',
    run: async (user) => user.patch(await user.get(DnsRecord, place), { spec: { host: 'web' } }),
  },
  change: {
    name: 'changes the value of DnsRecord r',
    run: async (user) => user.patch(await user.get(DnsRecord, place), { spec: { values: ['10.0.0.2'] } }),
  },
  remove: { name: 'deletes DnsRecord r', run: async (user) => user.delete(await user.get(DnsRecord, place)) },
} satisfies Record<string, UserStep>

type RecordMaking = (process: ProcessContext<{ zone: AsCalled<Zone> }>) => ControllerDeclaration<typeof DnsRecord>

export function recordProgram(
  make: RecordMaking,
  steps: readonly UserStep[] = [does.create, does.rename, does.remove],
): Subject {
  return {
    controllers: ((process: ProcessContext<{ zone: AsCalled<Zone> }>) => [
      make(process),
    ]) as unknown as Subject['controllers'],
    scenario: { name: 'records', steps, external: () => ({ zone: new Zone() }) } as unknown as Subject['scenario'],
  }
}

/** Every name that this object may have in the zone. */
export function hostsOf({ spec: { host }, status }: RecordObject): string[] {
  return [...new Set([...(status?.hosts ?? []), host])]
}

/** A correct controller: records names before it creates them, and removes the record after it deletes them. */
export const rightRecord: RecordMaking = ({ external: { zone } }) => ({
  for: DnsRecord,
  async reconcile(record, { client, status }) {
    const {
      spec: { host, values = [] },
      metadata: { uid },
    } = record
    const hosts = hostsOf(record)
    if (hosts.length !== record.status?.hosts?.length) await client.patchStatus(record, { hosts })
    await zone.set(host, uid, values)
    for (const old of hosts) if (old !== host) await zone.remove(old)
    status.set({ hosts: [host] })
  },
  async cleanup(record) {
    for (const host of hostsOf(record)) await zone.remove(host)
  },
})

export const cleanRecord = recordProgram(rightRecord)
export const cleanChange = recordProgram(rightRecord, [does.create, does.change, does.remove])
