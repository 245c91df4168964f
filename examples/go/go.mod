module example/harmony

go 1.21
