/**
 * Names that a reader looks for: an exported type name once in a layer, and log messages that can be searched for.
 *
 * A log message is a constant; what varies is in the fields. Only then can an operator count a message, filter by it and
 * find the line of code that wrote it.
 */
import ts from 'typescript'
import { findingAt, layerOf, visit, type Finding, type House, type HouseFile } from './house.ts'
import { loggingPackages } from './rules.ts'

const levels = new Set(['debug', 'info', 'warn', 'error'])

export function checkNames(house: House): Finding[] {
  const files = [...house.files.values()].filter(isPublished)
  const inLayers = files.filter(({ path }) => layerOf(path) !== undefined)
  return [...repeatedTypes(inLayers), ...files.filter(hasOurLog).flatMap(unclearMessages)]
}

function isPublished({ path, isTest, isFixture }: HouseFile): boolean {
  return !isTest && !isFixture && !path.includes('/generated/')
}

function hasOurLog({ path }: HouseFile): boolean {
  return loggingPackages.some((folder) => path.startsWith(`${folder}/src/`))
}

function repeatedTypes(files: readonly HouseFile[]): Finding[] {
  const seen = new Map<string, string>()
  return files.flatMap((file) =>
    exportedTypes(file).flatMap((name) => {
      const key = `${layerOf(file.path) ?? ''} ${name.text}`
      const first = seen.get(key)
      if (first === undefined) seen.set(key, file.path)
      return first === undefined ? [] : [findingAt(file, name, `${name.text} is exported by ${first} too`)]
    }),
  )
}

function exportedTypes({ source }: HouseFile): ts.Identifier[] {
  return source.statements.flatMap((statement) => {
    const isType =
      ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement) || ts.isClassDeclaration(statement)
    const isExported = isType && statement.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)
    return isExported && statement.name ? [statement.name] : []
  })
}

function unclearMessages(file: HouseFile): Finding[] {
  const findings: Finding[] = []
  visit(file.source, (node) => {
    if (!ts.isCallExpression(node) || !isLog(node.expression)) return
    const message = node.arguments[0]
    if (message && !isConstant(message))
      findings.push(findingAt(file, message, 'a log message is a constant: put what varies into fields'))
    else if (message && unclear.test(message.getText()))
      findings.push(findingAt(file, message, 'a log message begins with what failed: "cannot serve X", "X failed"'))
  })
  return findings
}

/** Messages that begin with an article, or hide in a passive which part failed. */
const unclear = /['"](?:an? |[^'"]*\b(?:could not be|cannot be|is no longer|are no longer)\b)/

/** `log.warn(…)`, `this.#log.warn(…)`, `options.log?.warn(…)`. */
function isLog(callee: ts.Expression): boolean {
  if (!ts.isPropertyAccessExpression(callee) || !levels.has(callee.name.text)) return false
  return /(?:^|[.#])(?:log|[a-z][A-Za-z]*Log)\??$/.test(callee.expression.getText())
}

/** One text, or a choice between texts. */
function isConstant(message: ts.Expression): boolean {
  if (ts.isConditionalExpression(message)) return isConstant(message.whenTrue) && isConstant(message.whenFalse)
  return ts.isStringLiteralLike(message)
}
