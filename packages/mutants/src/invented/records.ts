/**
 * Mistakes with a service that does not record owners.
 */
import type { Mutant } from '../mutant.ts'
import { cleanChange, cleanRecord, DnsRecord, does, hostsOf, recordProgram, rightRecord } from '../worlds/records.ts'

const clean = cleanRecord

export const recordMutants: readonly Mutant[] = [
  {
    id: 'n04',
    mistake: 'the old name remains after a rename',
    rules: ['state', 'cleanup'],
    tier: 0,
    clean,
    broken: recordProgram(({ external: { zone } }) => ({
      for: DnsRecord,
      async reconcile({ spec: { host, values = [] }, metadata: { uid } }) {
        await zone.set(host, uid, values)
      },
      async cleanup({ spec: { host } }) {
        await zone.remove(host)
      },
    })),
  },
  {
    id: 'n05',
    mistake: 'takes every other name in the zone for an old one of its own',
    rules: ['ownership', 'state', 'churn'],
    tier: 0,
    clean,
    broken: recordProgram(
      ({ external: { zone } }) => ({
        for: DnsRecord,
        async reconcile({ spec: { host, values = [] }, metadata: { uid } }) {
          await zone.set(host, uid, values)
          for (const name of await zone.list()) if (name.host !== host) await zone.remove(name.host)
        },
        async cleanup({ spec: { host } }) {
          await zone.remove(host)
        },
      }),
      [does.create, does.rename],
    ),
  },
  {
    id: 'n06',
    mistake: 'records the new name before it deletes the old one',
    rules: ['state', 'cleanup', 'failure', 'idempotent'],
    tier: 1,
    clean,
    broken: recordProgram(({ external: { zone } }) => ({
      for: DnsRecord,
      async reconcile(record, { client }) {
        const {
          spec: { host, values = [] },
          metadata: { uid },
          status,
        } = record
        const old = (status?.hosts ?? []).filter((one) => one !== host)
        if (status?.hosts?.join() !== host) await client.patchStatus(record, { hosts: [host] })
        for (const one of old) await zone.remove(one)
        await zone.set(host, uid, values)
      },
      async cleanup(record) {
        for (const host of hostsOf(record)) await zone.remove(host)
      },
    })),
  },
  {
    id: 'n07',
    mistake: 'ignores errors of the cleanup',
    rules: ['cleanup'],
    tier: 1,
    clean,
    broken: recordProgram((process) => ({
      ...rightRecord(process),
      async cleanup(record) {
        for (const host of hostsOf(record))
          await process.external.zone.remove(host).catch((error: unknown) => {
            process.log.warn('cannot remove a name', { error })
          })
      },
    })),
  },
  {
    id: 'n08',
    mistake: 'retries in a loop without a back-off',
    rules: ['failure', 'hot-loop'],
    tier: 1,
    clean,
    broken: recordProgram(
      (process) => ({
        ...rightRecord(process),
        async reconcile({ spec: { host, values = [] }, metadata: { uid } }, { status }) {
          for (let isDone = false; !isDone;)
            isDone = await process.external.zone.set(host, uid, values).then(
              () => true,
              () => false,
            )
          status.set({ hosts: [host] })
        },
      }),
      [does.create, does.change, does.remove],
    ),
  },
  {
    id: 'n09',
    mistake: 'only changes an existing name: every reconcile fails after another client removes it',
    rules: ['failure'],
    tier: 1,
    clean: cleanChange,
    broken: recordProgram(
      (process) => ({
        ...rightRecord(process),
        async reconcile({ spec: { host, values = [] }, metadata: { uid }, status: now }, { status }) {
          if (now?.hosts?.includes(host)) await process.external.zone.change(host, values)
          else await process.external.zone.set(host, uid, values)
          status.set({ hosts: [host] })
        },
      }),
      [does.create, does.change, does.remove],
    ),
  },
]
