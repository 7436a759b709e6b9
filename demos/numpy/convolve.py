import ctypes, numpy as np
selvage = ctypes.CDLL("libselvage.so")
problem = b"conv2d in=4x5 kernel=3x2 stride=1x2 pads=1,0,2,1 border=reflect"
x, w = np.float32(np.arange(20).reshape(4, 5) ** 2), np.float32([[1, 2], [3, 4], [5, 6]])
y, layer, why = np.zeros((5, 3), np.float32), ctypes.c_void_p(), ctypes.create_string_buffer(504)
failed = selvage.selvage_layer_create(problem, None, w.ctypes, 0, None, ctypes.byref(layer), why)
failed = failed or selvage.selvage_layer_run(layer, x.ctypes, y.ctypes, None, None, why)
padded = np.pad(x, ((1, 2), (0, 1)), mode="reflect")
right = sum(w[i, j] * padded[i : i + 5, j : j + 5 : 2] for i in range(3) for j in range(2))
print(why.raw[4:].rstrip(b"\0").decode() if failed else y, "equal:", (y == right).all())
