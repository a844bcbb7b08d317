import fc from 'fast-check'
import { expect, test } from 'vitest'
import { declareKind } from '#api'
import { metadataOnly } from '#client'
import { projectedPaths, projectionId, ProjectionUnion, type CacheKind } from './projection.ts'

const Thing = declareKind({ group: 'test.dev', version: 'v1', kind: 'Thing' })
const paths = ['spec', 'spec.a', 'spec.a.b', 'spec.ab', 'status.c']
const anyForm: fc.Arbitrary<CacheKind> = fc.oneof(
  fc.constant<CacheKind>(Thing),
  fc.constant<CacheKind>(metadataOnly(Thing)),
  fc
    .subarray(paths)
    .map((picked): CacheKind => ({ apiVersion: Thing.apiVersion, kind: Thing.kind, of: Thing, paths: picked })),
)

/** Whether a form has what is at a path; metadata has no fields, and is not followed by the same watch as what does. */
function has(kind: CacheKind, path: string): boolean {
  const kept = projectedPaths(kind)
  return kept === undefined || kept.some((each) => path === each || path.startsWith(`${each}.`))
}

test('Union has all that anybody asked for and nothing else, in any order; when it is settled it admits those it is enough for', () => {
  fc.assert(
    fc.property(fc.array(anyForm, { minLength: 1, maxLength: 5 }), anyForm, (forms, late) => {
      const union = new ProjectionUnion(forms[0] as CacheKind)
      for (const form of forms) {
        expect(union.accepts(form)).toBe(true)
        union.add(form)
      }
      for (const path of paths) expect(has(union.kind, path)).toBe(forms.some((form) => has(form, path)))
      expect(union.id).toBe(projectionId(union.kind))
      expect(union.id === 'metadata').toBe(forms.every((form) => projectionId(form) === 'metadata'))
      expect(union.id === 'whole').toBe(forms.some((form) => projectionId(form) === 'whole'))
      union.freeze()
      const { id: form } = union
      if (union.accepts(late)) union.add(late)
      expect(union.id).toBe(form)
      for (const path of paths) if (union.accepts(late) && has(late, path)) expect(has(union.kind, path)).toBe(true)
    }),
  )
})
