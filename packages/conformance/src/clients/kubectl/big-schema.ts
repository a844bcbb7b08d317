/**
 * Generates a schema as large and deep as those of big operators, whose CRDs are too big for an annotation.
 *
 * The result depends only on the given numbers, so that sessions can refer to its fields.
 */

interface Schema {
  readonly type: string
  readonly description: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly additionalProperties?: Schema
  readonly required?: readonly string[]
  readonly enum?: readonly string[]
  readonly minimum?: number
  readonly format?: string
  readonly [extension: `x-kubernetes-${string}`]: unknown
}

interface SizeOptions {
  /** The depth of nested sections. */
  readonly depth: number
  /** The number of sections in each section. */
  readonly width: number
}

/** Nested sections: each has a few primitive fields, a map list, a map, and the next sections. */
export function bigSchema({ depth, width }: SizeOptions, path = 'spec'): Schema {
  const inner =
    depth <= 1
      ? []
      : Array.from({ length: width }, (_, index): [string, Schema] => [
          `part${index}`,
          bigSchema({ depth: depth - 1, width }, `${path}.part${index}`),
        ])
  return {
    type: 'object',
    description: `What is wanted of ${path}. Everything in here can be left out; then the operator decides, by what it finds out about its surroundings when it looks at the object again.`,
    properties: { ...plainFields(path), ports: portsOf(path), labels: labelsOf(path), ...Object.fromEntries(inner) },
  }
}

function plainFields(path: string): Record<string, Schema> {
  return {
    mode: { type: 'string', description: `How ${path} behaves.`, enum: ['Fast', 'Careful', 'Off'] },
    size: { type: 'integer', description: `How many of ${path} there are.`, minimum: 0, format: 'int32' },
    enabled: { type: 'boolean', description: `Whether ${path} is in use at all.` },
    since: { type: 'string', description: `From when on ${path} counts.`, format: 'date-time' },
    limit: {
      type: 'string',
      description: `How much ${path} may use, as an amount.`,
      'x-kubernetes-int-or-string': undefined,
    },
  }
}

function portsOf(path: string): Schema {
  const items: Schema = {
    type: 'object',
    description: 'One port.',
    required: ['number'],
    properties: {
      number: { type: 'integer', description: 'Its number.' },
      name: { type: 'string', description: 'What it is called.' },
    },
  }
  return {
    type: 'array',
    description: `Where ${path} can be reached.`,
    items,
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['number'],
  }
}

function labelsOf(path: string): Schema {
  return {
    type: 'object',
    description: `Labels for whatever is made for ${path}.`,
    additionalProperties: { type: 'string', description: 'A value.' },
  }
}
