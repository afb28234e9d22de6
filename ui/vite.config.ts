import { defineConfig } from 'vitest/config';

// `npm run dev` shows the sources beside a running server: HOLDFAST_SERVER says where that is.
const server = process.env.HOLDFAST_SERVER ?? 'http://127.0.0.1:7400';
const paths = ['/v1', '/internal', '/healthz', '/readyz', '/metrics', '/openapi.json'];

export default defineConfig({
  base: './',
  build: {
    outDir: process.env.HOLDFAST_UI_OUT ?? 'dist',
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: { polyfill: false }, // a page's parts are asked for at once, not one after the other
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    // Few files: on a slow machine each request costs more than the bytes that a page does not need.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: 'shell', minShareCount: 3, priority: 1 },
            { name: 'list', test: /components[\\/](TaskList|columns)/ },
          ],
        },
      },
    },
  },
  server: { proxy: Object.fromEntries(paths.map(path => [path, server])) },
  test: { environment: 'happy-dom', include: ['src/**/*.test.{ts,tsx}'] },
});
