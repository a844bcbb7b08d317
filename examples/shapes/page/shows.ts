/**
 * What "Show me" presses in each step, and what has to be seen before the next press.
 *
 *     { press: 'restart', until: { shapes: { foo: 2 } }, seen: 'foo is drawn twice.' }
 *
 * The page presses the real buttons, in this order, after "Start over". Every key of `until` has to hold.
 */

export interface Press {
  /** The name of a button. */
  readonly press: string
  readonly until: {
    /** How many shapes of each name the service has. */
    readonly shapes?: Readonly<Record<string, number>>
    /** Whether the object foo exists. */
    readonly object?: boolean
    /** Whether the status of foo has the id of its shape: then the controller has finished with it. */
    readonly isSettled?: boolean
  }
  /** What the viewer should notice. */
  readonly seen: string
}

const create: Press = { press: 'create', until: { object: true, shapes: { foo: 1 } }, seen: 'foo is drawn.' }
const settled: Press = { ...create, until: { ...create.until, isSettled: true } }
const missed = 'The object is gone, and its shape is still in the service.'

export const shows: Readonly<Record<number, readonly Press[]>> = {
  1: [
    create,
    { press: 'restart', until: { shapes: { foo: 2 } }, seen: 'There is one object foo, and foo is drawn twice.' },
  ],
  2: [
    create,
    { press: 'foreign', until: { shapes: { bar: 0 } }, seen: 'The controller removed bar, which another client drew.' },
  ],
  3: [create, { press: 'miss-deletion', until: { object: false, shapes: { foo: 1 } }, seen: missed }],
  4: [
    { press: 'forge', until: { shapes: { baz: 1 } }, seen: 'baz has the label of the controller.' },
    {
      press: 'create',
      until: { object: true, shapes: { foo: 1, baz: 0 } },
      seen: 'The controller drew foo, and removed baz, which another client drew.',
    },
  ],
  5: [
    create,
    { press: 'miss-deletion', until: { object: false, shapes: { foo: 1 } }, seen: missed },
    {
      press: 'create',
      until: { object: true, shapes: { foo: 2 } },
      seen: 'The controller sees the old shape, calls it suspicious and leaves it. There are two shapes and one object.',
    },
  ],
  6: [
    settled,
    {
      press: 'remove-labels',
      until: { shapes: { foo: 2 } },
      seen: 'There is one object foo, and foo is drawn twice. The first shape has no labels and stays.',
    },
  ],
  7: [
    settled,
    {
      press: 'force-finalizer',
      until: { object: false, shapes: { foo: 0 } },
      seen: 'The tracking object led to the shape: nothing is left behind.',
    },
  ],
}
