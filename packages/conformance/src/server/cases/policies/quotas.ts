/**
 * ResourceQuota enforcement in the server: new objects are charged to the status.
 */
import assert from 'node:assert/strict'
import { defineCustom, eventually } from '../../custom.ts'
import { expectMatch, expectStatus, ok } from '../../expect.ts'
import { configMap, sample } from '../../samples.ts'
import type { Fields } from '../../samples.ts'
import type { Place, ServerCase } from '../../target.ts'

/** A quota with a filled status: used and hard counts. */
async function counted(place: Place, name: string, { hard, used }: { hard: Fields; used: Fields }): Promise<void> {
  ok(
    await place.post(
      'resourcequotas',
      sample('resourcequotas', name, { spec: { hard: { 'count/widgets.example.com': undefined, ...hard } } }),
    ),
    201,
  )
  ok(await place.patch('resourcequotas', `${name}/status`, { body: { status: { hard, used } } }), 200)
}

const usedOf = async (place: Place, name: string): Promise<unknown> =>
  ok(await place.get('resourcequotas', name)).status['used']

/** A server may take a moment to notice a quota: sends dry runs until it is enforced. */
async function kept(place: Place, text: RegExp): Promise<void> {
  await eventually(
    () => place.post('configmaps', configMap('probe'), { query: { dryRun: 'All' } }),
    (answer) => text.test(answer.text),
  )
}

export const quotaCases: readonly ServerCase[] = [
  {
    id: 'server/quotas/charged',
    needs: ['still'],
    rule: 'A new object is charged to the quota, under its long and its short resource name.',
    async run(place) {
      await counted(place, 'q', {
        hard: { 'count/configmaps': '5', configmaps: '6', secrets: '1' },
        used: { 'count/configmaps': '1', configmaps: '1', secrets: '0' },
      })
      await eventually(
        async () => {
          ok(
            await place.client.request('POST', place.path('configmaps'), {
              body: { metadata: { generateName: 'a-' } },
            }),
            201,
          )
          return place.get('resourcequotas', 'q')
        },
        ({ json }) => (json.status['used'] as Fields)['configmaps'] !== '1',
      )
      expectMatch(await usedOf(place, 'q'), { 'count/configmaps': '2', configmaps: '2', secrets: '0' })
    },
  },
  {
    id: 'server/quotas/exceeded',
    needs: ['still'],
    rule: 'An object above the limit is rejected with 403 and a message with all numbers; other kinds are not.',
    async run(place) {
      await counted(place, 'q', {
        hard: { 'count/configmaps': '2', configmaps: '2' },
        used: { 'count/configmaps': '2', configmaps: '2' },
      })
      await kept(place, /exceeded/)
      const message =
        'configmaps "a" is forbidden: exceeded quota: q, requested: configmaps=1,count/configmaps=1, used: configmaps=2,count/configmaps=2, limited: configmaps=2,count/configmaps=2'
      expectStatus(await place.post('configmaps', configMap('a')), {
        code: 403,
        reason: 'Forbidden',
        message,
        details: { name: 'a', kind: 'configmaps', causes: undefined },
      })
      ok(await place.post('secrets', sample('secrets', 'a')), 201)
    },
  },
  {
    id: 'server/quotas/dry-run',
    needs: ['still'],
    rule: 'A dry run is rejected like a real request and charges nothing.',
    async run(place) {
      await counted(place, 'q', { hard: { configmaps: '1' }, used: { configmaps: '0' } })
      ok(await place.post('configmaps', configMap('a'), { query: { dryRun: 'All' } }), 201)
      expectMatch(await usedOf(place, 'q'), { configmaps: '0' })
    },
  },
  {
    id: 'server/quotas/uncounted',
    needs: ['still'],
    rule: 'A quota without status limits nothing; one with limits and no counts in its status rejects.',
    async run(place) {
      ok(
        await place.post(
          'resourcequotas',
          sample('resourcequotas', 'new', {
            spec: { hard: { 'count/widgets.example.com': undefined, configmaps: '0' } },
          }),
        ),
        201,
      )
      ok(await place.post('configmaps', configMap('a')), 201)
      await counted(place, 'half', { hard: { 'count/configmaps': '5' }, used: {} })
      await kept(place, /status unknown/)
      expectStatus(await place.post('configmaps', configMap('b')), {
        code: 403,
        message: 'configmaps "b" is forbidden: status unknown for quota: half, resources: count/configmaps',
      })
    },
  },
  {
    id: 'server/quotas/races',
    needs: ['still'],
    rule: 'With concurrent creates, no more than the limit succeed.',
    async run(place) {
      await counted(place, 'q', { hard: { 'count/configmaps': '3' }, used: { 'count/configmaps': '3' } })
      await kept(place, /exceeded/)
      ok(
        await place.patch('resourcequotas', 'q/status', {
          body: { status: { hard: { 'count/configmaps': '7' }, used: { 'count/configmaps': '4' } } },
        }),
        200,
      )
      await eventually(
        () => place.post('configmaps', configMap('probe'), { query: { dryRun: 'All' } }),
        ({ status }) => status === 201,
      )
      const answers = await Promise.all(
        Array.from({ length: 12 }, (_, index) => place.post('configmaps', configMap(`a${index}`))),
      )
      assert.equal(answers.filter(({ status }) => status === 201).length, 3)
      expectMatch(await usedOf(place, 'q'), { 'count/configmaps': '7' })
    },
  },
  {
    id: 'server/quotas/custom',
    needs: ['still'],
    rule: 'Custom objects are counted by their resource and group.',
    async run(place) {
      const widgets = await defineCustom(place)
      await counted(place, 'q', {
        hard: { [`count/widgets.${widgets.group}`]: '1' },
        used: { [`count/widgets.${widgets.group}`]: '1' },
      })
      const post = (): ReturnType<typeof place.post> =>
        place.client.request('POST', `/apis/${widgets.group}/v1/namespaces/${place.namespace}/widgets`, {
          body: { apiVersion: `${widgets.group}/v1`, kind: 'Widget', metadata: { name: 'a' } },
          query: { dryRun: 'All' },
        })
      expectStatus(await eventually(post, ({ status }) => status === 403), {
        code: 403,
        message: new RegExp(`exceeded quota: q, requested: count/widgets.${widgets.group}=1`),
      })
    },
  },
  {
    id: 'server/quotas/several',
    needs: ['still'],
    rule: 'An object must fit into every quota that counts it.',
    async run(place) {
      await counted(place, 'wide', { hard: { configmaps: '9' }, used: { configmaps: '0' } })
      await counted(place, 'narrow', { hard: { 'count/configmaps': '1' }, used: { 'count/configmaps': '1' } })
      await kept(place, /exceeded/)
      expectStatus(await place.post('configmaps', configMap('a')), { code: 403, message: /exceeded quota: narrow/ })
      expectMatch(await usedOf(place, 'wide'), { configmaps: '0' })
    },
  },
]
