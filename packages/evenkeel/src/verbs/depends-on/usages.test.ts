import { expect, test } from 'vitest'
import { staleVersion, type KubeObject } from '#api'
import { route } from './informers.fixture.ts'
import { applyUsages, Usage, type UsageObject } from './usages.ts'

const of = { group: 'app.test.dev', kind: 'App', namespace: 'a', name: 'web' }

/** Applies a Usage for a reason, where another writer owns the fields of Usages: what was written and deleted. */
async function applied(
  reason: string,
  present: readonly UsageObject[],
): Promise<{ written: UsageObject[]; deleted: string[] }> {
  const [written, deleted] = [[] as UsageObject[], [] as string[]]
  const client = {
    apply: (_: unknown, usage: UsageObject, { force }: { force?: boolean }) => {
      if (force !== true) return Promise.reject(staleVersion({ kind: 'Usage', name: 'x' }))
      written.push(usage)
      return Promise.resolve(usage)
    },
    delete: ({ metadata: { name = '' } }: KubeObject) => Promise.resolve(deleted.push(name)),
  }
  const base = { client, signal: new AbortController().signal } as never
  await applyUsages([{ of, reason }], { base, referer: route('r'), kind: Usage, present })
  return { written, deleted }
}

test('a Usage is written once, put right when it was changed, and deleted when it is no longer wanted', async () => {
  const {
    written: [usage],
  } = await applied('traffic', [])
  expect(usage?.spec).toMatchObject({ of, by: { kind: 'Route', name: 'r', uid: 'r' }, reason: 'traffic' })
  expect(await applied('traffic', [usage as UsageObject])).toEqual({ written: [], deleted: [] })
  const spoilt = { ...(usage as UsageObject), spec: { ...usage?.spec, reason: 'none' } }
  expect((await applied('traffic', [spoilt])).written).toEqual([usage])
  const old: UsageObject = { apiVersion: Usage.apiVersion, kind: 'Usage', metadata: { name: 'old', uid: 'u' } }
  expect((await applied('traffic', [usage as UsageObject, old])).deleted).toEqual(['old'])
})
