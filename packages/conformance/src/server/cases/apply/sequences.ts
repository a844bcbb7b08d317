/**
 * Ownership field by field: sharing, conflicts, force, and removal of fields that are no longer applied.
 */
import type { ServerCase } from '../../target.ts'
import type { Fields } from '../../samples.ts'
import { sequenceCase } from './play.ts'
import type { Sequence } from './play.ts'

const text = { type: 'string' }
const object = (properties: Fields, more: Fields = {}): Fields => ({ type: 'object', properties, ...more })
const plain = object({ a: text, b: text, c: { type: 'integer' }, o: object({ x: text, y: text }) })

const fieldSequences: readonly Sequence[] = [
  {
    id: 'creates',
    rule: 'An apply of a missing object creates it and owns the applied fields.',
    spec: plain,
    steps: [
      {
        by: 'a',
        apply: { a: '1', o: { x: '2' } },
        is: { a: '1', o: { x: '2' } },
        owners: { 'a Apply': ['.spec.a', '.spec.o.x'] },
      },
    ],
  },
  {
    id: 'shares',
    rule: 'Two managers that apply the same value both own it.',
    spec: plain,
    steps: [
      { by: 'a', apply: { a: '1' } },
      {
        by: 'b',
        apply: { a: '1', b: '2' },
        is: { a: '1', b: '2' },
        owners: { 'a Apply': ['.spec.a'], 'b Apply': ['.spec.a', '.spec.b'] },
      },
    ],
  },
  {
    id: 'conflicts',
    rule: 'Applying a different value for a field that another manager owns is a conflict, listed field by field.',
    spec: plain,
    steps: [
      { by: 'a', apply: { a: '1', b: '1', o: { x: '1' } } },
      {
        by: 'b',
        apply: { a: '2', b: '2', o: { x: '2' }, c: 5 },
        conflicts: ['.spec.a: conflict with "a"', '.spec.b: conflict with "a"', '.spec.o.x: conflict with "a"'],
      },
      { by: 'b', apply: { c: 5 }, is: { a: '1', b: '1', o: { x: '1' }, c: 5 } },
    ],
  },
  {
    id: 'conflicts-with-several',
    rule: 'A conflict with several managers lists each of them.',
    spec: plain,
    steps: [
      { by: 'a', apply: { a: '1' } },
      { by: 'b', apply: { a: '1' } },
      { by: 'u', update: { a: '1', b: 'u' } },
      {
        by: 'c',
        apply: { a: '2', b: '2' },
        conflicts: [
          '.spec.a: conflict with "a"',
          '.spec.a: conflict with "b"',
          '.spec.b: conflict with "u" using $NS.example.com/v1',
        ],
      },
    ],
  },
  {
    id: 'force',
    rule: 'A forced apply takes over the field; the other manager keeps its other fields.',
    spec: plain,
    steps: [
      { by: 'a', apply: { a: '1', b: '1' } },
      {
        by: 'b',
        apply: { a: '2' },
        force: true,
        is: { a: '2', b: '1' },
        owners: { 'a Apply': ['.spec.b'], 'b Apply': ['.spec.a'] },
      },
      { by: 'a', apply: { a: '1', b: '1' }, conflicts: ['.spec.a: conflict with "b"'] },
    ],
  },
  {
    id: 'gives-up',
    rule: 'A manager that stops applying a field releases it: the field stays while another manager owns it and is removed otherwise.',
    spec: plain,
    steps: [
      { by: 'a', apply: { a: '1', b: '1', c: 1 } },
      { by: 'b', apply: { a: '1' } },
      { by: 'a', apply: { c: 1 }, is: { a: '1', c: 1 }, owners: { 'b Apply': ['.spec.a'], 'a Apply': ['.spec.c'] } },
      { by: 'b', apply: {}, is: { c: 1 }, owners: { 'a Apply': ['.spec.c'], 'b Apply': ['.spec'] } },
    ],
  },
  {
    id: 'changes-own',
    rule: 'The sole owner of a value can change it.',
    spec: plain,
    steps: [
      { by: 'a', apply: { a: '1', c: 1 } },
      { by: 'a', apply: { a: '2', c: 1 }, is: { a: '2', c: 1 }, owners: { 'a Apply': ['.spec.a', '.spec.c'] } },
    ],
  },
  {
    id: 'update-owns',
    rule: 'An update owns the fields it changes; the applier loses them and gets a conflict.',
    spec: plain,
    steps: [
      { by: 'a', apply: { a: '1', b: '1' } },
      { by: 'u', update: { a: '2', b: '1' }, owners: { 'a Apply': ['.spec.b'], 'u Update': ['.spec.a'] } },
      { by: 'a', apply: { a: '1', b: '1' }, conflicts: ['.spec.a: conflict with "u" using $NS.example.com/v1'] },
      {
        by: 'a',
        apply: { b: '1' },
        is: { a: '2', b: '1' },
        owners: { 'a Apply': ['.spec.b'], 'u Update': ['.spec.a'] },
      },
    ],
  },
  {
    id: 'patch-owns',
    rule: 'A patch owns the fields it changes, and none when it changes nothing.',
    spec: plain,
    steps: [
      { by: 'a', apply: { a: '1' } },
      { by: 'p', patch: { a: '1' }, owners: { 'a Apply': ['.spec.a'] } },
      { by: 'p', patch: { b: '2' }, owners: { 'a Apply': ['.spec.a'], 'p Update': ['.spec.b'] } },
    ],
  },
  {
    id: 'update-removes',
    rule: 'A field removed by an update has no owner, and an applier can add it again.',
    spec: plain,
    steps: [
      { by: 'a', apply: { a: '1', b: '1' } },
      { by: 'u', update: { b: '1' }, owners: { 'a Apply': ['.spec.b'] } },
      { by: 'a', apply: { a: '1', b: '1' }, is: { a: '1', b: '1' }, owners: { 'a Apply': ['.spec.a', '.spec.b'] } },
    ],
  },
  {
    id: 'updater-keeps',
    rule: 'A field owned by an updater stays when the applier drops it.',
    spec: plain,
    steps: [
      { by: 'u', update: { a: '1', b: '1' } },
      { by: 'a', apply: { a: '1' }, owners: { 'a Apply': ['.spec.a'], 'u Update': ['.spec', '.spec.a', '.spec.b'] } },
      {
        by: 'a',
        apply: {},
        is: { a: '1', b: '1' },
        owners: { 'a Apply': ['.spec'], 'u Update': ['.spec', '.spec.a', '.spec.b'] },
      },
    ],
  },
  {
    id: 'one-manager-two-ways',
    rule: 'The same name as applier and as updater is two managers.',
    spec: plain,
    steps: [
      { by: 'a', apply: { a: '1' } },
      { by: 'a', update: { a: '2' }, owners: { 'a Update': ['.spec.a'] } },
      { by: 'a', apply: { a: '1' }, conflicts: ['.spec.a: conflict with "a" using $NS.example.com/v1'] },
    ],
  },
  {
    id: 'empty-object',
    rule: 'An empty object is owned itself.',
    spec: plain,
    steps: [
      { by: 'a', apply: { o: {} }, is: { o: {} }, owners: { 'a Apply': ['.spec.o'] } },
      {
        by: 'b',
        apply: { o: { x: '1' } },
        is: { o: { x: '1' } },
        owners: { 'a Apply': ['.spec.o'], 'b Apply': ['.spec.o.x'] },
      },
      { by: 'a', apply: {}, is: { o: { x: '1' } }, owners: { 'a Apply': ['.spec'], 'b Apply': ['.spec.o.x'] } },
    ],
  },
  {
    id: 'object-goes',
    rule: 'An object is removed with its last owned field.',
    spec: plain,
    steps: [
      { by: 'a', apply: { a: '1', o: { x: '1', y: '2' } } },
      { by: 'a', apply: { a: '1', o: { y: '2' } }, is: { a: '1', o: { y: '2' } } },
      { by: 'a', apply: { a: '1' }, is: { a: '1' }, owners: { 'a Apply': ['.spec.a'] } },
    ],
  },
  {
    id: 'null',
    rule: 'A null in a nullable field is owned like any value.',
    spec: object({ a: text, n: { ...text, nullable: true } }),
    steps: [
      { by: 'a', apply: { n: null }, is: { n: null }, owners: { 'a Apply': ['.spec.n'] } },
      { by: 'b', apply: { n: 'x' }, conflicts: ['.spec.n: conflict with "a"'] },
    ],
  },
  {
    id: 'default-not-owned',
    rule: 'Defaulted fields have no manager: an applier can set them without a conflict.',
    spec: object({ a: text, d: { ...text, default: 'x' } }),
    steps: [
      { by: 'a', apply: { a: '1' }, is: { a: '1', d: 'x' }, owners: { 'a Apply': ['.spec.a'] } },
      {
        by: 'b',
        apply: { d: 'y' },
        is: { a: '1', d: 'y' },
        owners: { 'a Apply': ['.spec.a'], 'b Apply': ['.spec.d'] },
      },
      { by: 'b', apply: {}, is: { a: '1', d: 'x' } },
    ],
  },
  {
    id: 'map',
    rule: 'Each key of a map has its own owners.',
    spec: object({ m: { type: 'object', additionalProperties: text } }),
    steps: [
      { by: 'a', apply: { m: { x: '1', 'y.z/w': '2' } }, owners: { 'a Apply': ['.spec.m.x', '.spec.m.y.z/w'] } },
      { by: 'b', apply: { m: { q: '3' } }, is: { m: { x: '1', 'y.z/w': '2', q: '3' } } },
      { by: 'b', apply: { m: { 'y.z/w': '9' } }, conflicts: ['.spec.m.y.z/w: conflict with "a"'] },
      { by: 'a', apply: { m: { x: '1' } }, is: { m: { x: '1', q: '3' } } },
    ],
  },
  {
    id: 'atomic-map',
    rule: 'An atomic object has one owner as a whole.',
    spec: object({ m: { type: 'object', additionalProperties: text, 'x-kubernetes-map-type': 'atomic' } }),
    steps: [
      { by: 'a', apply: { m: { x: '1' } }, owners: { 'a Apply': ['.spec.m'] } },
      { by: 'b', apply: { m: { y: '1' } }, conflicts: ['.spec.m: conflict with "a"'] },
      { by: 'b', apply: { m: { y: '1' } }, force: true, is: { m: { y: '1' } }, owners: { 'b Apply': ['.spec.m'] } },
    ],
  },
  {
    id: 'preserved',
    rule: 'Preserved unknown fields are owned field by field; lists inside them are atomic.',
    spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    steps: [
      {
        by: 'a',
        apply: { o: { x: 1, y: { z: true } }, l: [{ name: 'a' }] },
        owners: { 'a Apply': ['.spec.l', '.spec.o', '.spec.o.x', '.spec.o.y', '.spec.o.y.z'] },
      },
      { by: 'b', apply: { o: { w: 2 } }, is: { o: { x: 1, y: { z: true }, w: 2 }, l: [{ name: 'a' }] } },
      { by: 'b', apply: { l: [{ name: 'b' }] }, conflicts: ['.spec.l: conflict with "a"'] },
    ],
  },
  {
    id: 'int-or-string',
    rule: 'An int-or-string can change its type.',
    spec: object({ p: { 'x-kubernetes-int-or-string': true } }),
    steps: [
      { by: 'a', apply: { p: 80 } },
      { by: 'a', apply: { p: 'http' }, is: { p: 'http' } },
      { by: 'b', apply: { p: 'http' } },
      { by: 'b', apply: { p: 80 }, conflicts: ['.spec.p: conflict with "a"'] },
    ],
  },
]

const named = {
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['name'],
  items: object({ name: text, v: text, w: text }, { required: ['name'] }),
}
const ports = {
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['port', 'protocol'],
  items: object(
    { port: { type: 'integer' }, protocol: { ...text, default: 'TCP' }, name: text },
    { required: ['port'] },
  ),
}
const set = { type: 'array', 'x-kubernetes-list-type': 'set', items: text }
const lists = object({
  named,
  ports,
  set,
  atomic: { type: 'array', 'x-kubernetes-list-type': 'atomic', items: text },
  bare: { type: 'array', items: object({ name: text }) },
  nested: { ...named, items: object({ name: text, inner: named }, { required: ['name'] }) },
})

const listSequences: readonly Sequence[] = [
  {
    id: 'list-items',
    rule: 'Each item of a map list has its own owners, and so has each field of an item.',
    spec: lists,
    steps: [
      {
        by: 'a',
        apply: { named: [{ name: 'x', v: '1' }] },
        owners: { 'a Apply': ['.spec.named[name="x"]', '.spec.named[name="x"].name', '.spec.named[name="x"].v'] },
      },
      {
        by: 'b',
        apply: {
          named: [
            { name: 'y', v: '2' },
            { name: 'x', w: '3' },
          ],
        },
        is: {
          named: [
            { name: 'y', v: '2' },
            { name: 'x', v: '1', w: '3' },
          ],
        },
        owners: {
          'a Apply': ['.spec.named[name="x"]', '.spec.named[name="x"].name', '.spec.named[name="x"].v'],
          'b Apply': [
            '.spec.named[name="x"]',
            '.spec.named[name="x"].name',
            '.spec.named[name="x"].w',
            '.spec.named[name="y"]',
            '.spec.named[name="y"].name',
            '.spec.named[name="y"].v',
          ],
        },
      },
      { by: 'b', apply: { named: [{ name: 'x', v: '9' }] }, conflicts: ['.spec.named[name="x"].v: conflict with "a"'] },
    ],
  },
  {
    id: 'list-item-goes',
    rule: "An item is removed when its only owner drops it; an item shared with another owner keeps its key and the other owner's fields.",
    spec: lists,
    steps: [
      {
        by: 'a',
        apply: {
          named: [
            { name: 'x', v: '1' },
            { name: 'y', v: '2' },
          ],
        },
      },
      { by: 'b', apply: { named: [{ name: 'y', w: '3' }] } },
      {
        by: 'a',
        apply: {},
        is: { named: [{ name: 'y', w: '3' }] },
        owners: {
          'b Apply': ['.spec.named[name="y"]', '.spec.named[name="y"].name', '.spec.named[name="y"].w'],
          'a Apply': ['.spec'],
        },
      },
    ],
  },
  {
    id: 'list-order',
    rule: 'Applied items take the order of the last applier; other items keep theirs and stay before the items that follow them.',
    spec: lists,
    steps: [
      { by: 'a', apply: { named: [{ name: 'a' }, { name: 'b' }, { name: 'c' }] } },
      {
        by: 'b',
        apply: { named: [{ name: 'c' }, { name: 'a' }] },
        is: { named: [{ name: 'b' }, { name: 'c' }, { name: 'a' }] },
      },
      {
        by: 'c',
        apply: { named: [{ name: 'z' }, { name: 'b' }] },
        is: { named: [{ name: 'z' }, { name: 'b' }, { name: 'c' }, { name: 'a' }] },
      },
    ],
  },
  {
    id: 'list-several-keys',
    rule: 'A key can consist of several fields, and a key field can have a default.',
    spec: lists,
    steps: [
      {
        by: 'a',
        apply: { ports: [{ port: 80, name: 'web' }] },
        is: { ports: [{ port: 80, protocol: 'TCP', name: 'web' }] },
        owners: {
          'a Apply': [
            '.spec.ports[port=80,protocol="TCP"]',
            '.spec.ports[port=80,protocol="TCP"].name',
            '.spec.ports[port=80,protocol="TCP"].port',
          ],
        },
      },
      {
        by: 'b',
        apply: { ports: [{ port: 80, protocol: 'UDP' }] },
        is: {
          ports: [
            { port: 80, protocol: 'TCP', name: 'web' },
            { port: 80, protocol: 'UDP' },
          ],
        },
      },
      {
        by: 'b',
        apply: { ports: [{ port: 80, protocol: 'TCP', name: 'other' }] },
        conflicts: ['.spec.ports[port=80,protocol="TCP"].name: conflict with "a"'],
      },
      { by: 'a', apply: {}, is: { ports: [{ port: 80, protocol: 'UDP' }] } },
    ],
  },
  {
    id: 'list-nested',
    rule: 'Nested map lists have owners at every depth.',
    spec: lists,
    steps: [
      {
        by: 'a',
        apply: { nested: [{ name: 'x', inner: [{ name: 'i', v: '1' }] }] },
        owners: {
          'a Apply': [
            '.spec.nested[name="x"]',
            '.spec.nested[name="x"].inner[name="i"]',
            '.spec.nested[name="x"].inner[name="i"].name',
            '.spec.nested[name="x"].inner[name="i"].v',
            '.spec.nested[name="x"].name',
          ],
        },
      },
      {
        by: 'b',
        apply: { nested: [{ name: 'x', inner: [{ name: 'j', v: '2' }] }] },
        is: {
          nested: [
            {
              name: 'x',
              inner: [
                { name: 'i', v: '1' },
                { name: 'j', v: '2' },
              ],
            },
          ],
        },
      },
      {
        by: 'b',
        apply: { nested: [{ name: 'x', inner: [{ name: 'i', v: '3' }] }] },
        conflicts: ['.spec.nested[name="x"].inner[name="i"].v: conflict with "a"'],
      },
      { by: 'a', apply: {}, is: { nested: [{ name: 'x', inner: [{ name: 'j', v: '2' }] }] } },
    ],
  },
  {
    id: 'set',
    rule: 'Each value of a set has its own owners.',
    spec: lists,
    steps: [
      { by: 'a', apply: { set: ['x', 'y'] }, owners: { 'a Apply': ['.spec.set["x"]', '.spec.set["y"]'] } },
      {
        by: 'b',
        apply: { set: ['y', 'z'] },
        is: { set: ['x', 'y', 'z'] },
        owners: { 'a Apply': ['.spec.set["x"]', '.spec.set["y"]'], 'b Apply': ['.spec.set["y"]', '.spec.set["z"]'] },
      },
      { by: 'a', apply: { set: ['x'] }, is: { set: ['x', 'y', 'z'] } },
      { by: 'b', apply: { set: ['z'] }, is: { set: ['x', 'z'] } },
    ],
  },
  {
    id: 'atomic-list',
    rule: 'An atomic list has one owner; a conflict names the list.',
    spec: lists,
    steps: [
      { by: 'a', apply: { atomic: ['x'] }, owners: { 'a Apply': ['.spec.atomic'] } },
      { by: 'b', apply: { atomic: ['x', 'y'] }, conflicts: ['.spec.atomic: conflict with "a"'] },
      { by: 'b', apply: { atomic: ['x'] }, owners: { 'b Apply': ['.spec.atomic'], 'a Apply': ['.spec.atomic'] } },
      { by: 'a', apply: {}, is: { atomic: ['x'] } },
    ],
  },
  {
    id: 'bare-list',
    rule: 'A list without a type is atomic.',
    spec: lists,
    steps: [
      { by: 'a', apply: { bare: [{ name: 'x' }] }, owners: { 'a Apply': ['.spec.bare'] } },
      { by: 'b', apply: { bare: [{ name: 'y' }] }, conflicts: ['.spec.bare: conflict with "a"'] },
    ],
  },
  {
    id: 'list-updated',
    rule: 'An update of a map list owns only the items that it changes.',
    spec: lists,
    steps: [
      {
        by: 'a',
        apply: {
          named: [
            { name: 'x', v: '1' },
            { name: 'y', v: '2' },
          ],
        },
      },
      {
        by: 'u',
        update: { named: [{ name: 'x', v: '9' }, { name: 'z' }] },
        owners: {
          'a Apply': ['.spec.named[name="x"]', '.spec.named[name="x"].name'],
          'u Update': ['.spec.named[name="x"].v', '.spec.named[name="z"]', '.spec.named[name="z"].name'],
        },
      },
      {
        by: 'a',
        apply: {
          named: [
            { name: 'x', v: '1' },
            { name: 'y', v: '2' },
          ],
        },
        conflicts: ['.spec.named[name="x"].v: conflict with "u" using $NS.example.com/v1'],
      },
    ],
  },
  {
    id: 'list-reordered-by-update',
    rule: 'An update that only reorders a map list owns nothing new.',
    spec: lists,
    steps: [
      {
        by: 'a',
        apply: {
          named: [
            { name: 'x', v: '1' },
            { name: 'y', v: '2' },
          ],
        },
      },
      {
        by: 'u',
        update: {
          named: [
            { name: 'y', v: '2' },
            { name: 'x', v: '1' },
          ],
        },
        owners: {
          'a Apply': [
            '.spec.named[name="x"]',
            '.spec.named[name="x"].name',
            '.spec.named[name="x"].v',
            '.spec.named[name="y"]',
            '.spec.named[name="y"].name',
            '.spec.named[name="y"].v',
          ],
        },
      },
    ],
  },
  {
    id: 'empty-list',
    rule: 'An empty map list or set has no owner until it has items.',
    spec: lists,
    steps: [
      { by: 'a', apply: { named: [], set: [] }, is: { named: [], set: [] }, owners: {} },
      {
        by: 'b',
        apply: { set: ['x'] },
        is: { named: [], set: ['x'] },
        owners: { 'b Apply': ['.spec.set["x"]'], 'before-first-apply Update': ['.spec', '.spec.named', '.spec.set'] },
      },
    ],
  },
]

export const sequenceCases: readonly ServerCase[] = [...fieldSequences, ...listSequences].map(sequenceCase)
