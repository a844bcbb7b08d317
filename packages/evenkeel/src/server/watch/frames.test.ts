import { expect, test } from 'vitest'
import { assert, SimulatedClock } from '#base'
import { columnsFor, makeCatalog, strategyFor } from '@evenkeel/builtins'
import { Query } from '#wire'
import { Registry } from '../registry/registry.ts'
import { Unstamped } from '../storage/stored-object.ts'
import { WatchEncoder } from './frames.ts'

const configMaps = new Registry(makeCatalog({ strategyFor, columnsFor })).find('', 'v1', 'configmaps')

test('a selector of a name, in all namespaces, is decided by keys: no other object is parsed', () => {
  assert(configMaps, 'ConfigMaps are built in')
  const parsed: string[] = []
  const stored = (name: string) => new Unstamped({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } }).stamped(7)
  const encoder = new WatchEncoder({
    resource: configMaps,
    choice: { format: 'json' },
    query: new Query(),
    matches: ({ object }) => {
      parsed.push(object.metadata.name ?? '')
      return true
    },
    key: undefined,
    keyEnd: '/a',
    clock: new SimulatedClock(),
  })
  const changes = ['x/a', 'x/ba', 'y/a', 'a/b'].map((key) => ({
    key: `/${key}`,
    revision: 7,
    entry: { key: `/${key}`, value: stored(key.slice(2)), revision: 7, created: 7 },
  }))
  const text = Buffer.concat([...encoder.batch({ changes } as never)]).toString()
  expect(text.match(/"name":"[^"]*"/g)).toEqual(['"name":"a"', '"name":"a"'])
  expect(parsed).toEqual(['a', 'a'])
})
