import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isConflict, isNotFound } from 'evenkeel'
import { isUnknownKind, metadataOnly, refTo } from 'evenkeel/client'
import type { Client } from 'evenkeel/client'
import { ConfigMap, Namespace, ways, Website, websiteDefinition } from './own.fixture.ts'
import type { OwnTarget } from './own.fixture.ts'

describe.each(Object.entries(ways))('Client %s', (_, open) => {
  let target: OwnTarget
  let client: Client
  let namespace = ''
  const warnings: string[] = []

  beforeAll(async () => {
    target = await open({
      onWarning: (text) => {
        warnings.push(text)
      },
    })
    client = target.client
    const made = await client.create(Namespace, { metadata: { generateName: 'own-' } })
    namespace = made.metadata.name
    await client.apply(websiteDefinition, { force: true })
    for (;;) {
      const { status } = await client.get(
        { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
        { name: 'websites.own.example.com' },
      )
      if (JSON.stringify(status).includes('"Established"')) break
    }
  })

  afterAll(async () => {
    // The server may be a long-lived one.
    await client.delete(websiteDefinition, { ignoreNotFound: true })
    await target.stop()
  })

  test('an object is created, read, found, updated and deleted', async () => {
    const made = await client.create(ConfigMap, { metadata: { name: 'a', namespace }, data: { x: '1' } })
    expect(made).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap', data: { x: '1' } })
    expect(await client.get(ConfigMap, made.metadata)).toEqual(made)
    const updated = await client.update({ ...made, data: { x: '2' } })
    expect(updated.data).toEqual({ x: '2' })
    await expect(client.update({ ...made, data: { x: '3' } })).rejects.toSatisfy(isConflict)
    expect(await client.delete(updated)).toBeUndefined()
    expect(await client.find(ConfigMap, { name: 'a', namespace })).toBeUndefined()
    await expect(client.get(ConfigMap, { name: 'a', namespace })).rejects.toSatisfy(isNotFound)
    await expect(client.delete(updated)).rejects.toMatchObject({
      reason: 'NotFound',
      subject: { kind: 'configmaps', name: 'a' },
    })
    expect(await client.delete(updated, { ignoreNotFound: true })).toBeUndefined()
  })

  test('every kind of patch', async () => {
    const made = await client.create(ConfigMap, { metadata: { name: 'patched', namespace }, data: { a: '1', b: '2' } })
    const ref = refTo(ConfigMap, made.metadata)
    expect((await client.patch(ref, { data: { a: null, c: '3' } })).data).toEqual({ b: '2', c: '3' })
    expect((await client.patch(ref, [{ op: 'replace', path: '/data/b', value: '9' }], { type: 'json' })).data).toEqual({
      b: '9',
      c: '3',
    })
    expect((await client.patch(ref, { data: { d: '4' } }, { type: 'strategic' })).data).toEqual({
      b: '9',
      c: '3',
      d: '4',
    })
    await expect(client.patchFrom(made, { ...made, data: { a: '7' } })).rejects.toSatisfy(isConflict)
    const current = await client.get(ConfigMap, made.metadata)
    expect((await client.patchFrom(current, { ...current, data: { e: '5' } })).data).toEqual({ e: '5' })
    expect(await client.patchFrom(current, { ...current })).toBe(current)
  })

  test('apply: owned fields are added and removed, conflicts are reported, force takes over', async () => {
    const metadata = { name: 'applied', namespace }
    await client.apply(ConfigMap, { metadata, data: { a: '1', b: '2' } })
    expect((await client.apply(ConfigMap, { metadata, data: { a: '1' } })).data).toEqual({ a: '1' })
    const other = client.with({ fieldManager: 'other' })
    await expect(other.apply(ConfigMap, { metadata, data: { a: '7' } })).rejects.toMatchObject({
      reason: 'Conflict',
      causes: [{ reason: 'FieldManagerConflict', field: '.data.a' }],
    })
    expect((await other.apply(ConfigMap, { metadata, data: { a: '7' } }, { force: true })).data).toEqual({ a: '7' })
  })

  test('a custom kind: defaults are returned, status and scale are written separately', async () => {
    const site = await client.create(Website, { metadata: { name: 'site', namespace }, spec: { image: 'nginx' } })
    expect(site.spec).toEqual({ image: 'nginx', replicas: 1 })
    const patched = await client.patchStatus(site, { ready: 1 })
    expect([patched.status, patched.metadata.generation]).toEqual([{ ready: 1 }, 1])
    expect((await client.updateStatus({ ...patched, status: { phase: 'Up' } })).status).toEqual({ phase: 'Up' })
    const applied = await client.applyStatus({
      apiVersion: Website.apiVersion,
      kind: Website.kind,
      metadata: { name: 'site', namespace },
      status: { ready: 2 },
    })
    expect(applied).toMatchObject({ spec: { image: 'nginx' }, status: { ready: 2, phase: 'Up' } })
    expect(await client.getScale(site)).toMatchObject({ kind: 'Scale', spec: { replicas: 1 }, status: { replicas: 2 } })
    expect((await client.setScale(site, 4)).spec).toEqual({ replicas: 4 })
    expect((await client.get(Website, site.metadata)).spec.replicas).toBe(4)
  })

  test('a kind given by apiVersion and kind is found by discovery, and an unknown one is named in the error', async () => {
    const found = await client.get({ apiVersion: 'own.example.com/v1', kind: 'Website' }, { name: 'site', namespace })
    expect(found['spec']).toMatchObject({ image: 'nginx' })
    await expect(client.list({ apiVersion: 'own.example.com/v2', kind: 'Website' })).rejects.toThrow(
      'the server has no kind Website (own.example.com/v2): install its CustomResourceDefinition',
    )
    await expect(client.find({ ...Website, plural: 'sites' }, { name: 'site', namespace })).rejects.toSatisfy(
      isUnknownKind,
    )
    expect((await client.resources()).find(({ kind }) => kind === 'Website')).toMatchObject({
      plural: 'websites',
      namespaced: true,
      subresources: ['status', 'scale'],
    })
  })

  test('a paged list is one snapshot; selectors and metadata only', async () => {
    for (let index = 0; index < 7; index++)
      await client.create(ConfigMap, {
        metadata: { name: `page-${index}`, namespace, labels: { of: index % 2 ? 'odd' : 'even' } },
      })
    const list = await client.list(ConfigMap, {
      namespace,
      labelSelector: { matchExpressions: [{ key: 'of', operator: 'Exists' }] },
      pageSize: 2,
    })
    expect(list.items.map(({ metadata }) => metadata.name)).toEqual(
      Array.from({ length: 7 }, (_unused, index) => `page-${index}`),
    )
    expect(list.metadata.continue).toBeUndefined()
    expect(list.items[0]).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap' })
    const sizes: number[] = []
    for await (const page of client.pages(ConfigMap, { namespace, labelSelector: 'of=odd', pageSize: 2 }))
      sizes.push(page.items.length)
    expect(sizes).toEqual([2, 1])
    const partial = await client.list(metadataOnly(ConfigMap), {
      namespace,
      fieldSelector: { 'metadata.name': 'page-3' },
    })
    expect(partial).toMatchObject({
      kind: 'ConfigMapList',
      items: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'page-3' } }],
    })
    expect(partial.items[0]).not.toHaveProperty('data')
    expect(await client.get(metadataOnly(ConfigMap), { name: 'page-3', namespace })).toMatchObject({
      kind: 'ConfigMap',
      metadata: { labels: { of: 'odd' } },
    })
    await client.deleteAllOf(ConfigMap, { namespace, labelSelector: 'of=odd' })
    expect((await client.list(ConfigMap, { namespace, labelSelector: 'of' })).items).toHaveLength(4)
  })

  test('paging fails with Expired after a compaction', async ({ skip }) => {
    if (!target.canCompact) return skip()
    const pages = client.pages(ConfigMap, { namespace, pageSize: 2 })[Symbol.asyncIterator]()
    await pages.next()
    await client.create(ConfigMap, { metadata: { name: 'late', namespace } })
    await target.compact()
    await expect(pages.next()).rejects.toMatchObject({ reason: 'Expired' })
  })

  test('finalizers, createOrUpdate, dry run', async () => {
    const made = await client.create(ConfigMap, { metadata: { name: 'held', namespace } })
    const held = await client.addFinalizer(made, 'own.example.com/hold')
    expect(await client.addFinalizer(held, 'own.example.com/hold')).toBe(held)
    const dying = await client.delete(held)
    expect(dying?.metadata.deletionTimestamp).toBeDefined()
    await expect(client.addFinalizer(dying as typeof held, 'own.example.com/more')).rejects.toThrow('is being deleted')
    await client.patch(refTo(ConfigMap, made.metadata), { data: { late: 'yes' } })
    await client.removeFinalizer(held, 'own.example.com/hold')
    expect(await client.find(ConfigMap, made.metadata)).toBeUndefined()

    const seed: ConfigMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'ensured', namespace } }
    const ensure = (value: string) => client.createOrUpdate(seed, (current) => ({ ...current, data: { value } }))
    expect((await ensure('1')).operation).toBe('created')
    expect((await ensure('1')).operation).toBe('unchanged')
    expect(await ensure('2')).toMatchObject({ operation: 'updated', object: { data: { value: '2' } } })

    expect(
      (await client.create(ConfigMap, { metadata: { name: 'dry', namespace } }, { dryRun: true })).metadata.uid,
    ).toBeDefined()
    expect(await client.find(ConfigMap, { name: 'dry', namespace })).toBeUndefined()
  })

  test('a warning of the server is reported once; strict validation rejects', async () => {
    const odd = { metadata: { name: 'odd', namespace }, spec: { image: 'x', colour: 'red' } }
    await client.create(Website, odd, { dryRun: true })
    await client.create(Website, odd, { dryRun: true })
    expect(warnings.filter((text) => text.includes('colour'))).toEqual(['unknown field "spec.colour"'])
    await expect(client.create(Website, odd, { fieldValidation: 'Strict' })).rejects.toMatchObject({
      reason: 'BadRequest',
    })
  })

  test('non-resource paths', async () => {
    expect((await client.raw({ path: '/version' })).json()).toHaveProperty('gitVersion')
    expect((await client.raw({ path: '/readyz' })).text()).toBe('ok')
    await expect(client.raw({ path: '/nowhere' })).rejects.toMatchObject({ code: 404 })
  })
})
