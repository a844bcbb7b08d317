/**
 * What the linter looks for: mistakes that types cannot see, above all around promises.
 *
 * Only rules with a reason, no preset: formatting is nobody's business here, and names, sizes and
 * layers are checked by tools/tidy.test.ts. TypeScript is linted with type information.
 */
import { defineConfig, globalIgnores } from 'eslint/config'
import tseslint from 'typescript-eslint'

const everywhere = {
  eqeqeq: 'error',
  'max-depth': ['error', 3],
  'no-async-promise-executor': 'error',
  'no-cond-assign': 'error',
  'no-console': 'error',
  'no-control-regex': 'error',
  'no-debugger': 'error',
  'no-empty': 'error',
  'no-empty-character-class': 'error',
  'no-loss-of-precision': 'error',
  'no-misleading-character-class': 'error',
  'no-prototype-builtins': 'error',
  'no-self-compare': 'error',
  'no-template-curly-in-string': 'error',
  'no-unmodified-loop-condition': 'error',
  'no-unsafe-finally': 'error',
  'no-unsafe-optional-chaining': 'error',
  'no-useless-escape': 'error',
  'no-var': 'error',
  'prefer-const': 'error',
  'require-yield': 'error',
  'use-isnan': 'error',
  'valid-typeof': 'error',
  'no-restricted-syntax': [
    'error',
    { selector: 'ExportDefaultDeclaration', message: 'No default exports: a name is the same everywhere.' },
    { selector: 'ForInStatement', message: 'for...in also visits inherited keys: use Object.keys or Object.entries.' },
  ],
}

const typed = {
  '@typescript-eslint/await-thenable': 'error',
  '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
  '@typescript-eslint/no-explicit-any': 'error',
  '@typescript-eslint/no-floating-promises': 'error',
  '@typescript-eslint/no-for-in-array': 'error',
  '@typescript-eslint/no-misused-promises': 'error',
  '@typescript-eslint/only-throw-error': ['error', { allowThrowingUnknown: true, allowThrowingAny: true }],
  '@typescript-eslint/prefer-promise-reject-errors': ['error', { allowThrowingUnknown: true, allowThrowingAny: true }],
  '@typescript-eslint/restrict-plus-operands': 'error',
  '@typescript-eslint/return-await': ['error', 'error-handling-correctness-only'],
  '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
}

/** What a plain script may use without importing it. */
const nodeGlobals = Object.fromEntries(
  [
    'process',
    'console',
    'URL',
    'URLSearchParams',
    'Buffer',
    'setTimeout',
    'clearTimeout',
    'setInterval',
    'clearInterval',
    'AbortController',
    'AbortSignal',
    'performance',
    'fetch',
  ].map((name) => [name, 'readonly']),
)

export default defineConfig([
  globalIgnores(['**/dist/', '**/node_modules/', '.cache/', 'data/', '**/generated/']),
  {
    files: ['**/*.{ts,mts,js,mjs}'],
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: everywhere,
  },
  {
    files: ['**/*.{ts,mts}'],
    languageOptions: {
      parser: tseslint.parser,
      parserOptions: { project: ['tsconfig.json'], tsconfigRootDir: import.meta.dirname },
    },
    plugins: { '@typescript-eslint': tseslint.plugin },
    rules: typed,
  },
  {
    files: ['**/*.{js,mjs}'],
    languageOptions: { sourceType: 'module', globals: nodeGlobals },
    rules: { 'no-undef': 'error', 'no-unused-vars': ['error', { ignoreRestSiblings: true }] },
  },
  {
    files: ['tools/**', 'bench/**', 'packages/cli/**', 'packages/*/bin/**', 'examples/**'],
    rules: { 'no-console': 'off' },
  },
  {
    // `return promise` in an async function ends the stack of an error: the line of the user's code would be lost.
    files: ['packages/evenkeel/src/{client,controller,verbs}/**'],
    ignores: ['**/*.test.ts', '**/*.fixture.ts'],
    rules: { '@typescript-eslint/return-await': ['error', 'always'] },
  },
  {
    files: ['packages/evenkeel/src/**'],
    ignores: ['**/*.test.ts', 'packages/evenkeel/src/base/**'],
    rules: {
      'no-restricted-properties': [
        'error',
        {
          object: 'AbortSignal',
          property: 'any',
          message:
            "It refuses our own signals on some versions of Node, and ignores them on others: use firstOf of '#base'.",
        },
      ],
    },
  },
  {
    files: ['**/*.config.{ts,js}', 'tools/test-counter.mjs', 'tools/test-progress.mjs', 'tools/mutate/runner.ts'],
    rules: { 'no-restricted-syntax': 'off' },
  },
])
