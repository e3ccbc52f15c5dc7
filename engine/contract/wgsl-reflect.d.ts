// The package's `exports` name no file with types for Node's module form; these are the types it ships.
declare module 'wgsl_reflect/wgsl_reflect.module.js' {
  export * from 'wgsl_reflect';
}
