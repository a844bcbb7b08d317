import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import type { JsonObject } from '@evenkeel/cel/primitives'
import { apply, force, run, update, type Outcome, type Step } from './apply-sequences.fixture.ts'
import { changedGarden, gardenSchema } from './schemas.fixture.ts'

type Row = [name: string, steps: Step[], content: JsonObject, owners: Outcome['owners'] | string]

/** Owners as a text are the refusal of the last step. */
function check(steps: readonly Step[], content: JsonObject, owners: Outcome['owners'] | string): void {
  const outcome = run(steps)
  assert.deepEqual(outcome.content, content)
  if (typeof owners === 'string') assert.equal(outcome.refusal, owners)
  else {
    assert.equal(outcome.refusal, undefined)
    assert.deepEqual(outcome.owners, owners)
  }
}

const table = (name: string, rows: Row[]): void => {
  describe(name, () => {
    test.each(rows)('%s', (_, ...[steps, content, owners]) => {
      check(steps, content, owners)
    })
  })
}

const x = '.beds[name="x"]'
const y = '.beds[name="y"]'

table('leaves', [
  [
    'an applier owns what it applies',
    [apply('a', { name: 'n', size: 1 })],
    { name: 'n', size: 1 },
    { a: ['.name', '.size'] },
  ],
  [
    'applying again with less removes the rest',
    [apply('a', { name: 'n', size: 1 }), apply('a', { name: 'n' })],
    { name: 'n' },
    { a: ['.name'] },
  ],
  ['applying nothing removes everything and the manager', [apply('a', { name: 'n' }), apply('a', {})], {}, {}],
  [
    'two appliers may own different fields',
    [apply('a', { name: 'n' }), apply('b', { size: 1 })],
    { name: 'n', size: 1 },
    { a: ['.name'], b: ['.size'] },
  ],
  [
    'two appliers may share a value',
    [apply('a', { size: 1 }), apply('b', { size: 1 })],
    { size: 1 },
    { a: ['.size'], b: ['.size'] },
  ],
  [
    'a shared value stays when one lets go',
    [apply('a', { size: 1 }), apply('b', { size: 1 }), apply('a', {})],
    { size: 1 },
    { b: ['.size'] },
  ],
  [
    'another value is a conflict',
    [apply('a', { size: 1 }), apply('b', { size: 2 })],
    { size: 1 },
    'Apply failed with 1 conflict: conflict with "a": .size',
  ],
  [
    'a shared value cannot be changed by one alone',
    [apply('a', { size: 1 }), apply('b', { size: 1 }), apply('a', { size: 2 })],
    { size: 1 },
    'Apply failed with 1 conflict: conflict with "b": .size',
  ],
  [
    'force takes the field',
    [apply('a', { size: 1, name: 'n' }), force('b', { size: 2 })],
    { size: 2, name: 'n' },
    { a: ['.name'], b: ['.size'] },
  ],
  [
    'force takes the last field and the manager goes',
    [apply('a', { size: 1 }), force('b', { size: 2 })],
    { size: 2 },
    { b: ['.size'] },
  ],
  [
    'an update takes fields it changes',
    [apply('a', { size: 1, name: 'n' }), update('b', { size: 2, name: 'n' })],
    { size: 2, name: 'n' },
    { a: ['.name'], 'b*': ['.size'] },
  ],
  [
    'an update that changes nothing owns nothing',
    [apply('a', { size: 1 }), update('b', { size: 1 })],
    { size: 1 },
    { a: ['.size'] },
  ],
  [
    'an update that removes a field takes it from its owner',
    [apply('a', { size: 1, name: 'n' }), update('b', { name: 'n' })],
    { name: 'n' },
    { a: ['.name'] },
  ],
  [
    'an applier conflicts with an updater',
    [update('b', { size: 2 }), apply('a', { size: 1 })],
    { size: 2 },
    'Apply failed with 1 conflict: conflict with "b" using example.io/v1: .size',
  ],
  [
    'an applier agrees with an updater',
    [update('b', { size: 2 }), apply('a', { size: 2 })],
    { size: 2 },
    { a: ['.size'], 'b*': ['.size'] },
  ],
  [
    'what an updater also owns stays when the applier lets go',
    [update('b', { size: 2 }), apply('a', { size: 2, name: 'n' }), apply('a', { name: 'n' })],
    { size: 2, name: 'n' },
    { a: ['.name'], 'b*': ['.size'] },
  ],
  [
    'an updater takes it all, the applier lets go, it stays',
    [apply('a', { size: 1 }), update('b', { size: 2 }), apply('a', {})],
    { size: 2 },
    { 'b*': ['.size'] },
  ],
  [
    'an applier and an updater of one name are two',
    [apply('a', { size: 1 }), update('a', { size: 2 })],
    { size: 2 },
    { 'a*': ['.size'] },
  ],
  [
    'several conflicts are listed by manager',
    [apply('a', { size: 1 }), apply('b', { name: 'n', open: true }), apply('c', { size: 2, name: 'm', open: false })],
    { size: 1, name: 'n', open: true },
    'Apply failed with 3 conflicts: conflicts with "a":\n- .size\nconflicts with "b":\n- .name\n- .open',
  ],
  ['an explicit null is owned', [apply('a', { name: null })], { name: null }, { a: ['.name'] }],
  [
    'int-or-string is one leaf',
    [apply('a', { amount: 1 }), force('b', { amount: '1' })],
    { amount: '1' },
    { b: ['.amount'] },
  ],
  ['a manager without a name is unknown', [apply('', { size: 1 })], { size: 1 }, { unknown: ['.size'] }],
])

table('maps and structs', [
  [
    'keys are owned one by one',
    [apply('a', { notes: { k: '1' } }), apply('b', { notes: { l: '2' } })],
    { notes: { k: '1', l: '2' } },
    { a: ['.notes.k'], b: ['.notes.l'] },
  ],
  [
    'a dropped key goes',
    [apply('a', { notes: { k: '1', l: '2' } }), apply('a', { notes: { k: '1' } })],
    { notes: { k: '1' } },
    { a: ['.notes.k'] },
  ],
  [
    'the map goes with its last key',
    [apply('a', { notes: { k: '1' }, size: 1 }), apply('a', { size: 1 })],
    { size: 1 },
    { a: ['.size'] },
  ],
  [
    'the map stays for the keys of others',
    [apply('a', { notes: { k: '1' } }), apply('b', { notes: { l: '2' } }), apply('a', {})],
    { notes: { l: '2' } },
    { b: ['.notes.l'] },
  ],
  [
    'an updater that brings a map owns it and its keys',
    [update('b', { notes: { k: '1' } })],
    { notes: { k: '1' } },
    { 'b*': ['.notes', '.notes.k'] },
  ],
  [
    'a struct goes as a whole',
    [apply('a', { box: { a: 'x', inner: { c: '1' } } }), apply('a', { size: 1 })],
    { size: 1 },
    { a: ['.size'] },
  ],
  [
    'a struct stays for a field of somebody else',
    [apply('a', { box: { a: 'x', b: 1 } }), apply('b', { box: { b: 1 } }), apply('a', {})],
    { box: { b: 1 } },
    { b: ['.box.b'] },
  ],
  [
    'a struct stays for a field nobody owns',
    [
      apply('a', { box: { a: 'x' } }),
      update('b', { box: { a: 'x', b: 1 } }),
      update('c', { box: { a: 'x', b: 1 }, metadata: {} }),
      apply('a', {}),
    ],
    { box: { b: 1 } },
    { 'b*': ['.box.b'] },
  ],
  [
    'inner structs by field',
    [apply('a', { box: { inner: { c: '1' } } }), apply('b', { box: { inner: { d: '2' } } }), apply('a', { box: {} })],
    { box: { inner: { d: '2' } } },
    { a: ['.box'], b: ['.box.inner.d'] },
  ],
  [
    'maps in maps',
    [apply('a', { deep: { k: { m: 1 } } }), apply('b', { deep: { k: { n: 2 } } })],
    { deep: { k: { m: 1, n: 2 } } },
    { a: ['.deep.k', '.deep.k.m'], b: ['.deep.k', '.deep.k.n'] },
  ],
  [
    'an atomic map is one field',
    [apply('a', { colour: { red: 1 } }), apply('b', { colour: { green: 1 } })],
    { colour: { red: 1 } },
    'Apply failed with 1 conflict: conflict with "a": .colour',
  ],
  [
    'an atomic map is taken whole',
    [apply('a', { colour: { red: 1 } }), force('b', { colour: { green: 1 } })],
    { colour: { green: 1 } },
    { b: ['.colour'] },
  ],
  ['an empty struct is owned', [apply('a', { box: {} })], { box: {} }, { a: ['.box'] }],
  [
    'unknown keys of a loose struct',
    [apply('a', { loose: { known: 'k', more: { m: 1 } } }), apply('a', { loose: { known: 'k' } })],
    { loose: { known: 'k' } },
    { a: ['.loose.known'] },
  ],
  [
    'names of prototypes are names',
    [
      apply('a', { notes: JSON.parse('{"__proto__":"1"}') as JsonObject }),
      apply('b', { notes: { constructor: '2' } }),
      apply('b', {}),
    ],
    { notes: JSON.parse('{"__proto__":"1"}') as JsonObject },
    { a: ['.notes.__proto__'] },
  ],
])

table('sets and atomic lists', [
  [
    'items are owned one by one',
    [apply('a', { bees: ['p', 'q'] }), apply('b', { bees: ['q', 'r'] })],
    { bees: ['p', 'q', 'r'] },
    { a: ['.bees[="p"]', '.bees[="q"]'], b: ['.bees[="q"]', '.bees[="r"]'] },
  ],
  [
    'a dropped item goes',
    [apply('a', { bees: ['p', 'q'] }), apply('a', { bees: ['q'] })],
    { bees: ['q'] },
    { a: ['.bees[="q"]'] },
  ],
  [
    'a shared item stays',
    [apply('a', { bees: ['p', 'q'] }), apply('b', { bees: ['p'] }), apply('a', { bees: ['q'] })],
    { bees: ['p', 'q'] },
    { a: ['.bees[="q"]'], b: ['.bees[="p"]'] },
  ],
  [
    'the list goes with its last item',
    [apply('a', { bees: ['p'], size: 1 }), apply('a', { size: 1 })],
    { size: 1 },
    { a: ['.size'] },
  ],
  [
    'an updater reorders without owning',
    [apply('a', { bees: ['p', 'q'] }), update('b', { bees: ['q', 'p'] })],
    { bees: ['q', 'p'] },
    { a: ['.bees[="p"]', '.bees[="q"]'] },
  ],
  [
    'an applier reorders its own items',
    [apply('a', { bees: ['p', 'q'] }), apply('a', { bees: ['q', 'p'] })],
    { bees: ['q', 'p'] },
    { a: ['.bees[="p"]', '.bees[="q"]'] },
  ],
  [
    'an updater removes an item',
    [apply('a', { bees: ['p', 'q'] }), update('b', { bees: ['p'] })],
    { bees: ['p'] },
    { a: ['.bees[="p"]'] },
  ],
  [
    'items of numbers',
    [apply('a', { sizes: [1, 2] }), apply('b', { sizes: [3] })],
    { sizes: [1, 2, 3] },
    { a: ['.sizes[=1]', '.sizes[=2]'], b: ['.sizes[=3]'] },
  ],
  [
    'an item twice in a configuration',
    [apply('a', { bees: ['p', 'p'] })],
    {},
    'failed to create typed patch object (/g; example.io/v1, Kind=Garden): .bees: duplicate entries for key [="p"]',
  ],
  [
    'an item twice in the live object is left alone',
    [update('b', { bees: ['p', 'p'] }), apply('a', { bees: ['q'] })],
    { bees: ['p', 'p', 'q'] },
    { a: ['.bees[="q"]'], 'b*': ['.bees', '.bees[="p"]'] },
  ],
  [
    'an atomic list is one field',
    [apply('a', { plants: ['p'] }), apply('b', { plants: ['p', 'q'] })],
    { plants: ['p'] },
    'Apply failed with 1 conflict: conflict with "a": .plants',
  ],
  [
    'an atomic list is shared when equal',
    [apply('a', { plants: ['p'] }), apply('b', { plants: ['p'] })],
    { plants: ['p'] },
    { a: ['.plants'], b: ['.plants'] },
  ],
  [
    'an atomic list goes when dropped',
    [apply('a', { plants: ['p'], size: 1 }), apply('a', { size: 1 })],
    { size: 1 },
    { a: ['.size'] },
  ],
])

table('lists by key', [
  [
    'items and their content',
    [apply('a', { beds: [{ name: 'x', rows: 1 }] }), apply('b', { beds: [{ name: 'y', rows: 2 }] })],
    {
      beds: [
        { name: 'x', rows: 1 },
        { name: 'y', rows: 2 },
      ],
    },
    { a: [x, `${x}.name`, `${x}.rows`], b: [y, `${y}.name`, `${y}.rows`] },
  ],
  [
    'an item of one alone goes whole',
    [apply('a', { beds: [{ name: 'x', rows: 1 }, { name: 'y' }] }), apply('a', { beds: [{ name: 'y' }] })],
    { beds: [{ name: 'y' }] },
    { a: [y, `${y}.name`] },
  ],
  [
    'an item is kept with its key for the leaf of another',
    [
      apply('a', { beds: [{ name: 'x', rows: 1, soil: { kind: 'k' } }] }),
      apply('b', { beds: [{ name: 'x', rows: 1 }] }),
      apply('a', {}),
    ],
    { beds: [{ name: 'x', rows: 1 }] },
    { b: [x, `${x}.name`, `${x}.rows`] },
  ],
  [
    'a leaf of an item goes',
    [apply('a', { beds: [{ name: 'x', rows: 1 }] }), apply('a', { beds: [{ name: 'x' }] })],
    { beds: [{ name: 'x' }] },
    { a: [x, `${x}.name`] },
  ],
  [
    'a conflict inside an item',
    [apply('a', { beds: [{ name: 'x', rows: 1 }] }), apply('b', { beds: [{ name: 'x', rows: 2 }] })],
    { beds: [{ name: 'x', rows: 1 }] },
    `Apply failed with 1 conflict: conflict with "a": ${x}.rows`,
  ],
  [
    'force takes only the leaf',
    [apply('a', { beds: [{ name: 'x', rows: 1 }] }), force('b', { beds: [{ name: 'x', rows: 2 }] })],
    { beds: [{ name: 'x', rows: 2 }] },
    { a: [x, `${x}.name`], b: [x, `${x}.name`, `${x}.rows`] },
  ],
  [
    'an updater adds a leaf to an item',
    [
      apply('a', { beds: [{ name: 'x' }] }),
      update('b', { beds: [{ name: 'x', rows: 1 }] }),
      apply('a', { beds: [{ name: 'x' }] }),
    ],
    { beds: [{ name: 'x', rows: 1 }] },
    { a: [x, `${x}.name`], 'b*': [`${x}.rows`] },
  ],
  [
    'the applier lets an item go whose leaf an updater owns',
    [apply('a', { beds: [{ name: 'x' }] }), update('b', { beds: [{ name: 'x', rows: 1 }] }), apply('a', {})],
    { beds: null },
    {},
  ],
  [
    'an updater replaces an item',
    [apply('a', { beds: [{ name: 'x' }] }), update('b', { beds: [{ name: 'y' }] })],
    { beds: [{ name: 'y' }] },
    { 'b*': [y, `${y}.name`] },
  ],
  [
    'a default key is the same item',
    [apply('a', { ports: [{ port: 80 }] }), apply('b', { ports: [{ port: 80, protocol: 'TCP', label: 'l' }] })],
    { ports: [{ port: 80, protocol: 'TCP', label: 'l' }] },
    {
      a: ['.ports[port=80,protocol="TCP"]', '.ports[port=80,protocol="TCP"].port'],
      b: [
        '.ports[port=80,protocol="TCP"]',
        '.ports[port=80,protocol="TCP"].label',
        '.ports[port=80,protocol="TCP"].port',
        '.ports[port=80,protocol="TCP"].protocol',
      ],
    },
  ],
  [
    'another value of the second key is another item',
    [apply('a', { ports: [{ port: 80 }] }), apply('b', { ports: [{ port: 80, protocol: 'UDP' }] }), apply('a', {})],
    { ports: [{ port: 80, protocol: 'UDP' }] },
    {
      b: [
        '.ports[port=80,protocol="UDP"]',
        '.ports[port=80,protocol="UDP"].port',
        '.ports[port=80,protocol="UDP"].protocol',
      ],
    },
  ],
  [
    'a duplicate through a default key',
    [apply('a', { ports: [{ port: 80 }, { port: 80, protocol: 'TCP' }] })],
    {},
    'failed to create typed patch object (/g; example.io/v1, Kind=Garden): .ports: duplicate entries for key [port=80,protocol="TCP"]',
  ],
  [
    'an item without any key',
    [apply('a', { beds: [{ rows: 1 }] })],
    {},
    'failed to create typed patch object (/g; example.io/v1, Kind=Garden): .beds: element 0: associative list with keys has an element that omits all key fields ["name"] (and doesn\'t have default values for any key fields)',
  ],
  [
    'lists in items',
    [
      apply('a', { beds: [{ name: 'x', ports: [{ port: 1, tags: ['t'] }] }] }),
      apply('b', { beds: [{ name: 'x', ports: [{ port: 1, tags: ['u'] }] }] }),
      apply('a', { beds: [{ name: 'x', ports: [{ port: 1 }] }] }),
    ],
    { beds: [{ name: 'x', ports: [{ port: 1, tags: ['u'] }] }] },
    {
      a: [x, `${x}.name`, `${x}.ports[port=1,protocol="TCP"]`, `${x}.ports[port=1,protocol="TCP"].port`],
      b: [
        x,
        `${x}.name`,
        `${x}.ports[port=1,protocol="TCP"]`,
        `${x}.ports[port=1,protocol="TCP"].port`,
        `${x}.ports[port=1,protocol="TCP"].tags[="u"]`,
      ],
    },
  ],
  [
    'duplicates in the live object, another item applied',
    [
      update('b', {
        beds: [
          { name: 'x', rows: 1 },
          { name: 'x', rows: 2 },
        ],
      }),
      apply('a', { beds: [{ name: 'y' }] }),
    ],
    { beds: [{ name: 'x', rows: 1 }, { name: 'x', rows: 2 }, { name: 'y' }] },
    { a: [y, `${y}.name`], 'b*': ['.beds', x] },
  ],
  [
    'duplicates in the live object, the same item applied',
    [
      update('b', {
        beds: [
          { name: 'x', rows: 1 },
          { name: 'x', rows: 2 },
        ],
      }),
      apply('a', { beds: [{ name: 'x', rows: 3 }] }),
    ],
    {
      beds: [
        { name: 'x', rows: 1 },
        { name: 'x', rows: 2 },
      ],
    },
    `Apply failed with 1 conflict: conflict with "b" using example.io/v1: ${x}`,
  ],
  [
    'duplicates are gone by update',
    [update('b', { beds: [{ name: 'x' }, { name: 'x', rows: 2 }] }), update('c', { beds: [{ name: 'x' }] })],
    { beds: [{ name: 'x' }] },
    { 'b*': ['.beds'], 'c*': [x, `${x}.name`] },
  ],
])

table('anything and deduced types', [
  [
    'anything by key',
    [apply('a', { anything: { m: { n: 1 } } }), apply('b', { anything: { m: { o: 2 } } })],
    { anything: { m: { n: 1, o: 2 } } },
    { a: ['.anything.m', '.anything.m.n'], b: ['.anything.m', '.anything.m.o'] },
  ],
  [
    'a list in anything is one field',
    [apply('a', { anything: { l: [{ m: 1 }] } }), apply('b', { anything: { l: [{ m: 2 }] } })],
    { anything: { l: [{ m: 1 }] } },
    'Apply failed with 1 conflict: conflict with "a": .anything.l',
  ],
  [
    'without a schema, maps by key',
    [apply('a', { m: { n: 1 } }, { schema: undefined }), apply('b', { m: { o: 2 } }, { schema: undefined })],
    { m: { n: 1, o: 2 } },
    { a: ['.m', '.m.n'], b: ['.m', '.m.o'] },
  ],
  [
    'without a schema, lists whole',
    [apply('a', { l: ['p'] }, { schema: undefined }), force('b', { l: ['q'] }, { schema: undefined })],
    { l: ['q'] },
    { b: ['.l'] },
  ],
  [
    'without a schema, dropped keys go',
    [apply('a', { m: { n: 1, o: 2 } }, { schema: undefined }), apply('a', { m: { n: 1 } }, { schema: undefined })],
    { m: { n: 1 } },
    { a: ['.m', '.m.n'] },
  ],
  [
    'without a schema, a map becomes a scalar',
    [apply('a', { m: { n: 1 } }, { schema: undefined }), apply('a', { m: 'text' }, { schema: undefined })],
    { m: 'text' },
    { a: ['.m'] },
  ],
  [
    'an undeclared field is refused',
    [apply('a', { weather: 1 })],
    {},
    'failed to create typed patch object (/g; example.io/v1, Kind=Garden): .weather: field not declared in schema',
  ],
])

const atomicBeds = changedGarden({
  beds: { ...gardenSchema.root.properties?.['beds'], 'x-kubernetes-list-type': 'atomic' },
})
const atomicBox = changedGarden({
  box: { ...gardenSchema.root.properties?.['box'], 'x-kubernetes-map-type': 'atomic' },
})

table('schemas that change', [
  [
    'a list becomes atomic: who owned items owns the list',
    [apply('a', { beds: [{ name: 'x' }] }), update('b', { beds: [{ name: 'x' }], size: 1 }, { schema: atomicBeds })],
    { beds: [{ name: 'x' }], size: 1 },
    { a: ['.beds'], 'b*': ['.size'] },
  ],
  [
    'a list becomes atomic: two owners are in conflict afterwards',
    [
      apply('a', { beds: [{ name: 'x' }] }),
      apply('b', { beds: [{ name: 'y' }] }),
      apply('a', { beds: [{ name: 'x' }] }, { schema: atomicBeds }),
    ],
    { beds: [{ name: 'x' }, { name: 'y' }] },
    'Apply failed with 1 conflict: conflict with "b": .beds',
  ],
  [
    'a struct becomes atomic',
    [apply('a', { box: { a: 'p' } }), apply('a', { box: { a: 'p' } }, { schema: atomicBox })],
    { box: { a: 'p' } },
    { a: ['.box'] },
  ],
  [
    'an atomic struct becomes granular: the whole is not given up',
    [apply('a', { box: { a: 'p', b: 1 } }, { schema: atomicBox }), apply('b', { box: { b: 1 } })],
    { box: { a: 'p', b: 1 } },
    { a: ['.box'], b: ['.box.b'] },
  ],
  [
    'an atomic struct becomes granular: applied again it is owned by field',
    [apply('a', { box: { a: 'p' } }, { schema: atomicBox }), apply('a', { box: { a: 'p' } })],
    { box: { a: 'p' } },
    { a: ['.box.a'] },
  ],
])
