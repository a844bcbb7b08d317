/** A DnsName has a name in a zone. A name is recorded in the status before it is created, so a rename leaves nothing. */
import { defineController, defineKind } from 'evenkeel'
import type { ObjectOf } from 'evenkeel'
import { z } from 'zod'
import { Zone } from '../services.ts'
import { changes, creates, deletes, type Process } from '../steps.ts'

const DnsName = defineKind({
  group: 'right.dev',
  version: 'v1',
  kind: 'DnsName',
  spec: z.object({ host: z.string().regex(/^w[a-z]{1,8}$/), values: z.array(z.string()) }),
  status: z.object({ hosts: z.array(z.string()).optional() }),
})

function hostsOf({ spec, status }: ObjectOf<typeof DnsName>): string[] {
  return [...new Set([...(status?.hosts ?? []), spec.host])]
}

export const controllers = ({ external: { zone } }: Process<{ zone: Zone }>) => [
  defineController({
    for: DnsName,
    async reconcile(record, { client, status }) {
      const { host, values } = record.spec
      const hosts = hostsOf(record)
      if (hosts.length !== record.status?.hosts?.length) await client.patchStatus(record, { hosts })
      await zone.set(host, record.metadata.uid, values)
      for (const old of hosts) if (old !== host) await zone.remove(old)
      status.set({ hosts: [host] })
    },
    async cleanup(record) {
      for (const host of hostsOf(record)) await zone.remove(host)
    },
  }),
]

export const scenario = {
  name: 'records',
  external: () => ({ zone: new Zone() }),
  steps: [
    creates(DnsName, 'site', { spec: { host: 'www', values: ['10.0.0.1'] } }),
    changes(DnsName, 'site', { spec: { host: 'web', values: ['10.0.0.2'] } }),
    deletes(DnsName, 'site'),
  ],
}
