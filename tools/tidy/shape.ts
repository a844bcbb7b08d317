/**
 * Names and structure of files: kebab-case, a header, only erasable TypeScript syntax.
 */
import { posix } from 'node:path'
import ts from 'typescript'
import { findingAt, visit, type Finding, type House, type HouseFile } from './house.ts'
import { defaultExports, emptyFileNames, emptyNames } from './rules.ts'

const kebab = /^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.(?:test|fixture|config|d))?\.(?:ts|mts|mjs|js)$/
const noDefault = 'no default exports'

export function checkShape(house: House): Finding[] {
  return [...house.files.values()].flatMap((file) => [
    ...checkName(file),
    ...checkHeader(file),
    ...checkNotes(file),
    ...checkSyntax(file),
  ])
}

function checkName(file: HouseFile): Finding[] {
  const parts = file.path.split('/')
  const stemOf = (part: string): string => part.split('.')[0] ?? ''
  const empty =
    parts.find((part) => emptyNames.test(stemOf(part))) ??
    parts.slice(-1).find((file) => emptyFileNames.test(stemOf(file)))
  if (empty) return [findingAt(file, 0, `${empty} does not say what is inside`)]
  return kebab.test(posix.basename(file.path)) ? [] : [findingAt(file, 0, 'file names are kebab-case')]
}

function checkHeader(file: HouseFile): Finding[] {
  const text = file.source.text.replace(/^#!.*\n/, '')
  return file.isTest || text.startsWith('/**')
    ? []
    : [findingAt(file, 0, 'the file does not begin with a header comment')]
}

/** A note to do something later needs an issue number; in strings the word is only a word. */
function checkNotes(file: HouseFile): Finding[] {
  return [...file.source.text.matchAll(/\bTODO\b(?!\s*\(?#\d+)/g)]
    .filter(({ index }) => !isInLiteral(file.source, index))
    .map(({ index }) => findingAt(file, index, 'a TODO needs an issue number'))
}

function isInLiteral(source: ts.SourceFile, position: number): boolean {
  let found = false
  visit(source, (node) => {
    const isText =
      ts.isStringLiteralLike(node) || ts.isTemplateLiteralToken(node) || ts.isRegularExpressionLiteral(node)
    if (isText && node.getStart(source) <= position && position < node.end) found = true
  })
  return found
}

function checkSyntax(file: HouseFile): Finding[] {
  const findings: Finding[] = []
  visit(file.source, (node) => {
    const problem = syntaxProblem(node)
    const isAsked = problem === noDefault && defaultExports.includes(file.path)
    if (problem && !isAsked) findings.push(findingAt(file, node, problem))
  })
  return findings
}

function syntaxProblem(node: ts.Node): string | undefined {
  if (ts.isExportAssignment(node) || hasModifier(node, ts.SyntaxKind.DefaultKeyword)) return noDefault
  if (ts.isEnumDeclaration(node)) return 'no enums: use a union of strings'
  if (ts.isModuleDeclaration(node) && !hasModifier(node, ts.SyntaxKind.DeclareKeyword))
    return 'no namespaces: use a module'
  if (ts.isParameter(node) && ts.isParameterPropertyDeclaration(node, node.parent))
    return 'no parameter properties: write the field'
  return undefined
}

function hasModifier(node: ts.Node, kind: ts.SyntaxKind): boolean {
  return ts.canHaveModifiers(node) && (ts.getModifiers(node) ?? []).some((modifier) => modifier.kind === kind)
}
