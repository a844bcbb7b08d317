/**
 * Operators on values: stale ones, constant ones, those of another time.
 */
import ts from 'typescript'
import { isChildWrite, isClientWrite, isRead, isStatusStatement } from './calls.ts'
import { calledIn, contextPart, handlerOf } from './source.ts'
import type { Edit, Mutation, Source } from './source.ts'

/** A variable of the process: made when its factory is called. */
function processVariable(source: Source, declaration: string): readonly Edit[] {
  const { body } = source.factory
  if (ts.isBlock(body)) {
    const start = body.getStart(source.file) + 1
    return [{ start, end: start, text: `\n${declaration}` }]
  }
  return [
    { start: body.getStart(source.file), end: body.getStart(source.file), text: `{\n${declaration}\nreturn ` },
    { start: body.end, end: body.end, text: '\n}' },
  ]
}

/** A variable of the module: it outlives the process. */
function moduleVariable(source: Source, declaration: string): readonly Edit[] {
  const first = source.file.statements.find((statement) => !ts.isImportDeclaration(statement))
  return first ? [source.insertBefore(first, `${declaration}\n`)] : []
}

const memo = 'const remembered: { value?: any } = {}'

function isInFactory(source: Source, node: ts.Node): boolean {
  return handlerOf(node) !== undefined && node.pos > source.factory.pos
}

/** What is read is read once for each process. */
export function staleRead(source: Source): Mutation[] {
  return source
    .all(isRead)
    .filter((at) => isInFactory(source, at))
    .map((at) => ({
      at,
      edits: [...processVariable(source, memo), source.replace(at, `(remembered.value ??= ${source.textOf(at)})`)],
    }))
}

/** A local value is kept in a variable of the process, or of the module: that of the first run stays. */
export function sharedState(source: Source): Mutation[] {
  return locals(source).flatMap(({ at, initializer }) => [
    {
      at,
      edits: [
        ...processVariable(source, memo),
        source.replace(initializer, `(remembered.value ??= ${source.textOf(initializer)})`),
      ],
    },
    {
      at,
      edits: [
        ...moduleVariable(source, memo),
        source.replace(initializer, `(remembered.value ??= ${source.textOf(initializer)})`),
      ],
    },
  ])
}

function locals(source: Source): readonly { at: ts.VariableDeclaration; initializer: ts.Expression }[] {
  return source.all(ts.isVariableDeclaration).flatMap((at) => {
    const { initializer } = at
    return initializer && ts.isIdentifier(at.name) && isInFactory(source, at) && !isRead(initializer)
      ? [{ at, initializer }]
      : []
  })
}

/** A read without `live: true` comes from the cache. */
export function dropLive(source: Source): Mutation[] {
  return source
    .all(ts.isPropertyAssignment)
    .filter(({ name }) => name.getText() === 'live')
    .map((at) => ({ at, edits: [source.removeElement(at)] }))
}

/** A field of the spec is a constant: its first value in the scenario. */
export function constantField(source: Source): Mutation[] {
  const values = firstValues(source.file)
  const accesses = source.all(ts.isPropertyAccessExpression).flatMap((at) => {
    const value = /\.?spec$/.test(at.expression.getText()) ? values.get(at.name.text) : undefined
    return value === undefined || handlerOf(at) === undefined ? [] : [{ at, edits: [source.replace(at, value)] }]
  })
  const bindings = source.all(ts.isVariableDeclaration).flatMap(({ name, initializer }) => {
    if (!initializer || !ts.isObjectBindingPattern(name) || !/\.spec$/.test(initializer.getText())) return []
    return name.elements.flatMap((at) => {
      const value = values.get(at.name.getText())
      const text = `{ ...${source.textOf(initializer)}, ${at.name.getText()}: ${value} }`
      return value === undefined ? [] : [{ at, edits: [source.replace(initializer, text)] }]
    })
  })
  return [...accesses, ...bindings]
}

/** The literal values in `creates(Kind, name, { spec: { … } })`, by field. */
function firstValues(file: ts.SourceFile): Map<string, string> {
  const values = new Map<string, string>()
  const visit = (node: ts.Node): void => {
    if (ts.isPropertyAssignment(node) && node.name.getText() === 'spec' && isCreated(node.parent.parent))
      for (const field of ts.isObjectLiteralExpression(node.initializer) ? node.initializer.properties : [])
        if (ts.isPropertyAssignment(field) && !values.has(field.name.getText()))
          values.set(field.name.getText(), field.initializer.getText())
    ts.forEachChild(node, visit)
  }
  visit(file)
  return values
}

function isCreated(node: ts.Node): boolean {
  return ts.isCallExpression(node) && node.expression.getText() === 'creates'
}

/** What a write cannot do without, and its options: other operators change those. */
const kept = new Set([
  'metadata',
  'apiVersion',
  'kind',
  'name',
  'namespace',
  'resourceVersion',
  'template',
  'selector',
  'force',
  'preconditions',
  'uid',
  'ignoreNotFound',
  'prune',
  'key',
  'keep',
])

/** A field is left out of what is written. */
export function dropField(source: Source): Mutation[] {
  return source.nodes
    .filter((node) => ts.isPropertyAssignment(node) || ts.isShorthandPropertyAssignment(node))
    .filter((node) => handlerOf(node) !== undefined && !kept.has(node.name.getText()) && isWritten(node))
    .map((at) => ({ at, edits: [source.removeElement(at)] }))
}

/** Inside the first two arguments of a write, or of `data`, `metadata` and `spec` of a variable. */
function isWritten(node: ts.Node): boolean {
  for (let at = node; at.parent && !ts.isBlock(at.parent); at = at.parent) {
    const { parent } = at
    if (ts.isArrowFunction(parent)) return false
    if (ts.isCallExpression(parent) && parent.arguments.length > 0) {
      const name = parent.expression.getText()
      if (isClientWrite(name) || isChildWrite(name)) return parent.arguments.indexOf(at as ts.Expression) < 2
      return name === 'setControllerReference'
    }
    if (ts.isVariableDeclaration(parent)) return /^(?:data|spec|quota|copy|metadata)$/.test(parent.name.getText())
  }
  return false
}

/** The time is in the status. */
export function timeInStatus(source: Source): Mutation[] {
  return source.all(isStatusStatement).flatMap((at) => {
    const handler = handlerOf(at)
    const called = calledIn(at.expression)
    if (!handler || called?.name.endsWith('.condition') !== true || called.call.arguments.length !== 2) return []
    const clock = contextPart(source, handler, 'clock')
    const last = called.call.arguments[1]
    if (!last) return []
    const message = `, { message: new Date(${clock.text}.now()).toISOString() }`
    return [{ at, edits: [...clock.edits, { start: last.end, end: last.end, text: message }] }]
  })
}

/** The time is in a child. */
export function timeInChild(source: Source): Mutation[] {
  return source.all(ts.isPropertyAssignment).flatMap((at) => {
    const handler = handlerOf(at)
    if (!handler || at.name.getText() !== 'data' || !ts.isObjectLiteralExpression(at.initializer)) return []
    const clock = contextPart(source, handler, 'clock')
    const start = at.initializer.getStart(source.file) + 1
    return [{ at, edits: [...clock.edits, { start, end: start, text: ` time: String(${clock.text}.now()),` }] }]
  })
}

/** A run that waits for a time does not come again. */
export function dropRequeue(source: Source): Mutation[] {
  return source
    .all(ts.isReturnStatement)
    .filter(({ expression }) => expression?.getText().includes('afterMs') === true)
    .map((at) => ({ at, edits: [source.replace(at, 'return undefined')] }))
}

/** A run comes again after a millisecond. */
export function pollFast(source: Source): Mutation[] {
  return source
    .all(ts.isPropertyAssignment)
    .filter((at) => at.name.getText() === 'afterMs' && handlerOf(at) !== undefined)
    .map((at) => ({ at, edits: [source.replace(at.initializer, '1')] }))
}

/** `signal.throwIfAborted()` is left out. */
export function ignoreSignal(source: Source): Mutation[] {
  return source
    .all(ts.isExpressionStatement)
    .filter((at) => at.getText().includes('throwIfAborted'))
    .map((at) => ({ at, edits: [source.replace(at, ';')] }))
}

/** `children.waitFor(a, f)` does not wait. */
export function dropWait(source: Source): Mutation[] {
  return source
    .all(ts.isCallExpression)
    .filter(({ expression }) => expression.getText().endsWith('children.waitFor'))
    .flatMap((at) => {
      const [child] = at.arguments
      return child ? [{ at, edits: [source.replace(at, source.asStatement(at, `(${source.textOf(child)})`))] }] : []
    })
}
