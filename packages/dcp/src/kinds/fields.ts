/**
 * The types of fields, as the schemas of the kinds use them.
 *
 * Every field may be absent or null, as for the programs that this group is compatible with: they leave out what is
 * empty, or send it as null. What has to be there is a rule, with a message of its own (../rules/).
 */

/** A schema of a field. */
type Field = Readonly<Record<string, unknown>>

export const text = { type: 'string', nullable: true } as const
export const flag = { type: 'boolean', nullable: true } as const
export const int32 = { type: 'integer', format: 'int32', nullable: true } as const
export const int64 = { type: 'integer', format: 'int64', nullable: true } as const
/** A time with microseconds. */
export const time = { type: 'string', format: 'date-time', nullable: true } as const
/** A Go duration: `1m30s`. */
export const duration = text
export const port = { type: 'integer', format: 'int32', minimum: 0, maximum: 65_535, nullable: true } as const
export const texts = { type: 'array', items: { type: 'string' }, nullable: true } as const
/** Labels and annotations. */
export const textMap = { type: 'object', additionalProperties: { type: 'string' }, nullable: true } as const
/** An object whose fields a rule checks, because a schema cannot contain itself. */
export const anyObject = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } as const

export function record<const Fields extends Readonly<Record<string, Field>>>(properties: Fields) {
  return { type: 'object', properties, nullable: true } as const
}

/** Items are never null. */
export function listOf<const Item extends Field>(items: Item) {
  const item = { ...items, nullable: false } as Omit<Item, 'nullable'> & { readonly nullable: false }
  return { type: 'array', items: item, nullable: true } as const
}

/** One of some texts; the empty one stands for the default. */
export function oneOf<const Values extends readonly string[]>(...values: Values) {
  return { type: 'string', enum: ['', ...values] } as const
}

/** Programs write it in either case. */
export const protocol = oneOf('TCP', 'UDP', 'tcp', 'udp')

export const envVars = listOf(record({ name: text, value: text }))
export const labelList = listOf(record({ key: text, value: text }))
export const certificates = listOf(record({ thumbprint: text, contents: text }))

export const terminal = record({
  udsPath: text,
  socketMode: oneOf('listen', 'connect'),
  cols: int32,
  rows: int32,
})
