import { describe, expect, test } from 'vitest'
import { Cascades } from './cascade.ts'

const keysOf = (due: readonly { readonly key: string }[]): string[] => due.map(({ key }) => key)
const all = [
  { key: 'api', dependsOn: ['db'] },
  { key: 'web', dependsOn: ['api'] },
  { key: 'worker', dependsOn: ['api', 'db'] },
  { key: 'proxy', dependsOn: ['web', 'worker'] },
  { key: 'other', dependsOn: [] },
]

describe('a cascade', () => {
  test('W25: dependents restart in dependency order, each once, when all they need is ready again', () => {
    const cascades = new Cascades()
    cascades.begin('api', all, 'because')
    expect(keysOf(cascades.ready('web'))).toEqual([])
    expect(keysOf(cascades.ready('api'))).toEqual(['web', 'worker'])
    expect(keysOf(cascades.ready('api'))).toEqual([])
    // Not restarted yet: that it is ready says nothing.
    expect(keysOf(cascades.ready('web'))).toEqual([])
    cascades.started('web')
    expect(keysOf(cascades.ready('web'))).toEqual([])
    cascades.started('worker')
    expect(cascades.ready('worker')).toEqual([{ key: 'proxy', cause: 'because' }])
    cascades.started('proxy')
    expect(keysOf(cascades.ready('proxy'))).toEqual([])
    expect(keysOf(cascades.ready('api'))).toEqual([])
  })

  test('a cycle of dependents ends', () => {
    const cascades = new Cascades()
    const cycle = [
      { key: 'a', dependsOn: ['b'] },
      { key: 'b', dependsOn: ['a'] },
    ]
    cascades.begin('a', cycle, '')
    expect(keysOf(cascades.ready('a'))).toEqual(['b'])
    cascades.started('b')
    expect(keysOf(cascades.ready('b'))).toEqual([])
  })

  test('a newer cascade replaces the one before', () => {
    const cascades = new Cascades()
    cascades.begin('api', all, 'first')
    cascades.begin('api', all, 'second')
    expect(cascades.ready('api').map(({ cause }) => cause)).toEqual(['second', 'second'])
  })
})
