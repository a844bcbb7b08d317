import { describe, expect, test } from 'vitest'
import { staleVersion, type KubeObject } from '#api'
import { ExternalRefBackend, isRefOf, type ExternalRefObject } from './external-ref.ts'

const options = { system: 'shapes', instance: 'here', kind: { apiVersion: 'x.dev/v1', kind: 'Shape' } }
const owner = { namespace: 'a', name: 'one', uid: 'u1' }

/** A backend on a server that refuses so many writes because they come too late. */
function backend({ conflicts = 0 } = {}): {
  records: ExternalRefBackend
  refs: Map<string, ExternalRefObject>
  reads: boolean[]
} {
  const refs = new Map<string, ExternalRefObject>()
  const reads: boolean[] = []
  let left = conflicts
  const put = (ref: KubeObject): Promise<KubeObject> => {
    if (left-- > 0) return Promise.reject(staleVersion({ group: 'evenkeel.dev', kind: 'externalrefs', name: 'x' }))
    refs.set(ref.metadata.name ?? '', ref as ExternalRefObject)
    return Promise.resolve(ref)
  }
  const client = {
    find: (_: unknown, { name }: { name: string }, { live }: { live: boolean }) => {
      reads.push(live)
      return Promise.resolve(refs.get(name))
    },
    list: () => Promise.resolve({ items: [...refs.values()] }),
    create: (_: unknown, ref: KubeObject) => put(ref),
    patchFrom: (_: unknown, ref: KubeObject) => put(ref),
  } as never
  const { signal } = new AbortController()
  return { records: new ExternalRefBackend({ ...options, client, signal }), refs, reads }
}

describe('ExternalRefBackend', () => {
  test('a record is found again as it was saved, by the UID of its object and by its name', async () => {
    const { records, refs } = backend()
    const attempt = { number: 1, key: 'k', time: 't', outcome: 'Created' } as const
    const record = { id: 's-1', attempt, observedGeneration: 3 }
    await records.save(owner, record)
    expect(await records.find('u1')).toEqual({ owner, record, isOrphaned: false })
    expect(await records.find('u2')).toBeUndefined()
    expect((await records.ofKey({ name: 'one', namespace: 'a' })).map((one) => one.owner.uid)).toEqual(['u1'])
    expect(await records.ofKey({ name: 'one', namespace: 'b' })).toEqual([])
    expect([...refs.values()].map(({ spec }) => spec.phase)).toEqual(['Created'])
  })

  test.each([
    [{}, 'Intent', undefined],
    [{ id: 's-1' }, 'Created', undefined],
    [{ id: 's-1', isDeleting: true }, 'Deleting', true],
  ])('the phase of %j is %s', async (record, phase, isDeleting) => {
    const { records, refs } = backend()
    await records.save({ ...owner, namespace: '' }, record)
    const [ref] = refs.values()
    expect(ref?.spec.phase).toBe(phase)
    expect(ref?.spec.owner).toEqual({ apiVersion: 'x.dev/v1', kind: 'Shape', name: 'one', uid: 'u1' })
    expect((await records.find('u1'))?.record.isDeleting).toBe(isDeleting)
  })

  test('save with force reads the record from the server and tries again after a conflict, six times in all', async () => {
    await expect(backend({ conflicts: 1 }).records.save(owner, { id: 's-1' })).rejects.toMatchObject({
      reason: 'Conflict',
    })
    const { records, refs, reads } = backend({ conflicts: 5 })
    await records.save(owner, { id: 's-1' }, { force: true })
    expect([refs.size, reads]).toEqual([1, [false, true, true, true, true, true]])
    await expect(backend({ conflicts: 6 }).records.save(owner, {}, { force: true })).rejects.toMatchObject({
      reason: 'Conflict',
    })
  })
})

test('isRefOf goes by system, instance, kind and group, not by version', () => {
  const ref = (spec: object = {}, of: object = {}): ExternalRefObject =>
    ({ spec: { ...options, ...spec, owner: { apiVersion: 'x.dev/v2', kind: 'Shape', ...of } } }) as never
  expect(isRefOf(ref(), options)).toBe(true)
  expect(isRefOf(ref({ system: 'other' }), options)).toBe(false)
  expect(isRefOf(ref({ instance: 'there' }), options)).toBe(false)
  expect(isRefOf(ref({}, { kind: 'Other' }), options)).toBe(false)
  expect(isRefOf(ref({}, { apiVersion: 'y.dev/v1' }), options)).toBe(false)
  expect(isRefOf(ref({}, { apiVersion: 'v1' }), options)).toBe(false)
})
